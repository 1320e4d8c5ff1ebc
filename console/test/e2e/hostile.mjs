// Strings that want to be more than text: markup, scripts, addresses, templates, control
// and direction characters. Each one that runs would say so in window.hit.
const shapes = [
  (n) => `<script>window.hit=${n}</script>`,
  (n) => `<img src=x onerror=window.hit=${n}>`,
  (n) => `"><svg onload=window.hit=${n}>`,
  (n) => `'><iframe srcdoc="<script>parent.hit=${n}</script>">`,
  (n) => `javascript:window.hit=${n}`,
  (n) => `</script><script>window.hit=${n}//`,
  (n) => `</style><style>@import'//127.0.0.1:9/${n}'</style>`,
  (n) => `</title><body onload=window.hit=${n}>`,
  (n) => `{{constructor.constructor('window.hit=${n}')()}}`,
  (n) => `\${window.hit=${n}}`,
  (n) => `<a href="javascript:hit=${n}" autofocus onfocus=window.hit=${n} tabindex=1>x`,
  (n) => `<math><mtext></form><form><mglyph><style></math><img src onerror=window.hit=${n}>`,
  (n) => `<details open ontoggle=window.hit=${n}>`,
  (n) => `<meta http-equiv=refresh content="0;url=http://127.0.0.1:9/${n}">`,
  (n) => `<base href=http://127.0.0.1:9/${n}>`,
  (n) => `__proto__[hit]=${n}`,
  (n) => `\u001b]52;c;${n}\u0007\u001b[2J`,
  (n) => `\u202egnp.${n}\u2066exe\u2069`,
  (n) => `\u009b31m${n}\u0085\u2028\u2029`,
  (n) => `\ufeff\u200b\u00ad${n}\u3164\u2800`,
  (n) => `${n}\r\nSet-Cookie: hit=${n}`,
  (n) => `%3Cscript%3Ehit=${n}%3C/script%3E`,
  (n) => `[click](javascript:hit=${n}) ![x](http://127.0.0.1:9/${n})`,
  (n) => `${n}${"A".repeat(180)}`,
  (n) => `\\u003cscript\\u003ewindow.hit=${n}\\u003c/script\\u003e`,
];

/** The nth string; no two are the same. */
export const hostile = (n) => shapes[n % shapes.length](n);

/** The same as the name of a file: no slash, no zero, at most 255 bytes. */
export const hostileName = (n) => {
  const bytes = Buffer.from(hostile(n).replaceAll("/", "∕"));
  return bytes.subarray(0, 240).toString("utf8").replaceAll("\ufffd", "");
};
