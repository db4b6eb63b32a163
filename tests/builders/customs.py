"""The second shipped policy: the tools of customs brokers, which the requirements and the attacks are about."""

from streams import policies

CUSTOMS = policies.tool_policy(policies.CUSTOMS)
# As an environment names it to a process.
NAMED = {"FATHOM_TOOL_POLICY": str(policies.CUSTOMS)}
