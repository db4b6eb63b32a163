/** The verdict of the gate on a tool call. */

import type { ToolVerdict } from "../data/types.ts";
import { useSpeech } from "../language/say.ts";
import { Fields } from "./small.tsx";

export function CallShown({ verdict }: { verdict: ToolVerdict }) {
  const { say, word } = useSpeech();
  const taken = verdict.taken.map((each) => `${each.arg}=${JSON.stringify(each.value)} (${each.source})`).join(", ");
  return (
    <Fields of={[
      [say("calls.verdict"), word("call.", verdict.status)],
      [say("calls.call"), verdict.call_id],
      [say("calls.arguments"), verdict.arguments === null ? null : JSON.stringify(verdict.arguments)],
      [say("calls.taken"), taken === "" ? null : taken],
      [say("calls.preview"), verdict.preview],
      [say("calls.error"), verdict.error],
    ]} />
  );
}
