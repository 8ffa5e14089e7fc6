// 中文: what the page says, by what it says in English.

/** @type {Object<string, string>} */
export const CHINESE = {};
