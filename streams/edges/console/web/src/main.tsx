/** Starts the page. */

import { render } from "preact";

import { App } from "./app.tsx";
import { tokenFromAddress } from "./data/session.ts";
import "./styles.css";

tokenFromAddress();
render(<App />, document.getElementById("app")!);
