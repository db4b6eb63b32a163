"""Short tests of isolation in the operator's policy on packs: bounds, templates and mistakes are each tenant's own."""

from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from agents.core.packs import options
from agents.core.packs.profiles import Misfit
from agents.core.packs.text import Templates
from schemas.depth import RequestOptions
from schemas.policy import OptionOverrides, PackPolicy, TenantPacks
from streams.testing.pipeline import Pipeline
from tests.tenants.probes import ACME, BETA, GAMA

OWN, LEAST, MOST, ASKED = "own", 300, 400, 900
BROAD = RequestOptions(max_tokens=ASKED, template=OWN)
POLICY = f"""packs:
  templates: {{{OWN}: "{{{{ lang }}}}"}}
  tenants:
    {ACME.name}: {{template: {OWN}, options: {{largest_max_tokens: {MOST}}}}}
"""


def policied() -> None:
    """What one tenant may ask for, how its packs are laid out and what is wrong with either is not another's."""
    bounds = OptionOverrides(largest_max_tokens=MOST)
    policy = PackPolicy(templates={OWN: "{{ lang }}"}, tenants={ACME.name: TenantPacks(bounds, OWN)})
    options.check(policy)
    expected = {ACME: (MOST, OWN, ("max_tokens",)), BETA: (ASKED, None, ("template",))}
    for tenant, (tokens, template, clamped) in expected.items():
        found = options.in_force(BROAD, None, policy, tenant.name)
        assert found is not None
        assert (found.max_tokens, found.template, found.clamped) == (tokens, template, clamped)
    assert [Templates(policy).of(each.name, None).name for each in (ACME, BETA)] == [OWN, "default"]
    for mistake in (
        TenantPacks(template="nosuch"),
        TenantPacks(OptionOverrides(smallest_max_tokens=900, largest_max_tokens=500)),
    ):
        with pytest.raises(Misfit) as wrong:
            options.check(PackPolicy(tenants={ACME.name: mistake}))
        assert wrong.value.where[:2] == ("tenants", ACME.name)
    _in_the_pipeline()


def _in_the_pipeline() -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder, "packs.yaml")
        path.write_text(POLICY)
        with Pipeline(partitions=1, pack_policy=path) as fathom:
            for tenant, (template, tokens) in {ACME: (OWN, MOST), GAMA: ("default", ASKED)}.items():
                pack = fathom.ask("oi", tenant=tenant.name, conversation="c1", max_tokens=ASKED)
                assert (pack.template, pack.max_tokens) == (template, tokens)
