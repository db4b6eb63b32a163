/** Starts the page. */

import { render } from "preact";

import { App } from "./app.tsx";
import { tokenFromAddress } from "./data/session.ts";
import "./styles/base.css";
import "./styles/parts.css";
import "./styles/views.css";

tokenFromAddress();
render(<App />, document.getElementById("app")!);
