/** How consumer groups keep up with the log, looked at again every two seconds until that is switched off. */

import { useEffect, useRef, useState } from "preact/hooks";

import { lag, pause } from "../data/api.ts";
import { number } from "../data/text.ts";
import type { GroupLag } from "../data/types.ts";
import { useSpeech } from "../language/say.ts";
import { State, Waiting } from "../parts/small.tsx";

const EVERY_MS = 2000;
const FINE: Record<string, string> = { OK: "ok", WARN: "warn" };

export function Lag({ announce }: { announce: (text: string) => void }) {
  const { say } = useSpeech();
  const [groups, setGroups] = useState<readonly GroupLag[] | null>(null);
  const [why, setWhy] = useState<string | null>(null);
  const [going, setGoing] = useState(true);
  const before = useRef(new Map<string, string>());

  useEffect(() => {
    const ending = new AbortController();
    const look = async (): Promise<void> => {
      do {
        try {
          const found = (await lag(ending.signal)).groups;
          const changed = found.filter((each) => (before.current.get(each.group) ?? each.status) !== each.status);
          before.current = new Map(found.map((each) => [each.group, each.status]));
          if (changed.length > 0) announce(changed.map((each) => `${each.group}: ${each.status}, ${each.why}`).join("; "));
          setGroups(found);
          setWhy(null);
        } catch (error) {
          if (!ending.signal.aborted) setWhy(error instanceof Error ? error.message : `${error}`);
        }
        if (going) await pause(EVERY_MS, ending.signal);
      } while (going && !ending.signal.aborted);
    };
    look().catch(() => undefined); // it was left
    return () => ending.abort();
  }, [going]);

  return (
    <div class="lag">
      <h1>{say("lag.title")}</h1>
      <p class="facts">
        <label class="switch"><input type="checkbox" role="switch" checked={going} onChange={(event) => setGoing(event.currentTarget.checked)} />{say("lag.going")}</label>
        <span class="quiet">{say("lag.how")}</span>
      </p>
      {why !== null || groups === null ? <Waiting why={why} /> : null}
      {groups === null ? null : <Shown of={groups} />}
    </div>
  );
}

/** One line when all is well, else the groups. */
function Shown({ of }: { of: readonly GroupLag[] }) {
  const { say, locale } = useSpeech();
  const behind = of.filter((each) => each.status !== "OK");
  const records = of.reduce((sum, each) => sum + each.lag, 0);
  return (
    <>
      {behind.length === 0 ? (
        <p class="well"><State of="ok" says={say("lag.well", { n: of.length, records: number(records, locale) })} /></p>
      ) : <Groups of={behind} />}
      <details>
        <summary>{say("lag.everyGroup", { n: of.length })}</summary>
        <Groups of={of} every />
      </details>
      <Partitions of={of} />
    </>
  );
}

function Groups({ of, every }: { of: readonly GroupLag[]; every?: boolean }) {
  const { say, locale } = useSpeech();
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label={say(every ? "lag.groups" : "lag.behind")}>
      <table>
        <thead><tr>
          <th scope="col">{say("lag.group")}</th><th scope="col">{say("state")}</th><th scope="col" class="n">{say("lag.records")}</th>
          <th scope="col" class="n">{say("lag.members")}</th><th scope="col">{say("why")}</th>
        </tr></thead>
        <tbody>
          {of.map((each) => (
            <tr key={each.group} data-group={every ? undefined : each.group}>
              <th scope="row">{each.group}</th>
              <td><Status of={each.status} /></td>
              <td class="n">{number(each.lag, locale)}</td>
              <td class="n">{number(each.members, locale)}</td>
              <td>{each.why}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Partitions({ of }: { of: readonly GroupLag[] }) {
  const { say, locale } = useSpeech();
  return (
    <details>
      <summary>{say("lag.partitions")}</summary>
      <div class="scroll" tabIndex={0} role="region" aria-label={say("lag.partitions")}>
        <table>
          <thead><tr>
            <th scope="col">{say("lag.group")}</th><th scope="col">{say("lag.partition")}</th><th scope="col">{say("state")}</th>
            <th scope="col" class="n">{say("lag.records")}</th><th scope="col">{say("why")}</th>
          </tr></thead>
          <tbody>
            {of.flatMap((group) => group.partitions.map((each) => (
              <tr key={`${group.group} ${each.partition}`}>
                <td>{group.group}</td>
                <th scope="row">{each.partition}</th>
                <td><Status of={each.status} /></td>
                <td class="n">{number(each.lag, locale)}</td>
                <td>{each.why}</td>
              </tr>
            )))}
          </tbody>
        </table>
      </div>
    </details>
  );
}

/** A status in its own word, which is the one of `fathom lag` and of the alerts. */
function Status({ of }: { of: string }) {
  return <State of={FINE[of] ?? "failed"} says={of} />;
}
