/** A message at any of its events. */

import { useSpeech } from "../language/say.ts";

export function Slider({ at, of, set, id }: { at: number | null; of: number; set: (at: number | null) => void; id: string }) {
  const { say } = useSpeech();
  const now = at ?? of;
  const says = of === 0 ? say("time.none") : say("time.at", { at: now, of });
  return (
    <div class="slider">
      <label>
        {say("time.title")}
        <input
          type="range"
          min={0}
          max={of}
          value={now}
          disabled={of === 0}
          aria-valuetext={says}
          onInput={(event) => {
            const value = Number(event.currentTarget.value);
            set(value === of ? null : value);
          }}
        />
      </label>
      <span class="quiet">{says}</span>
      <button type="button" class="small" disabled={at === null} onClick={() => set(null)}>{say("time.live")}</button>
      <span class="spacer" />
      <code class="quiet">{id}</code>
    </div>
  );
}
