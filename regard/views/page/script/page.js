// The file: shows what it carries.

import { begin, carried, failed, show } from "./main.js";

begin();
const { content, packed } = carried();
show([{ document: content, packed }]).catch(failed);
