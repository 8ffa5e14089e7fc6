// The page of a worked example without views: its tables, whose numbers can be changed.

import { preferred, speak } from "../language.js";
import { enliven } from "./enlivened.js";

speak(preferred());
enliven();
document.documentElement.dataset.ready = String(Math.round(performance.now()));
