// Responses without a file.

/** Says why a response is not that of a file. */
export const faultOf = ({ status, type }: Response): string =>
  /^opaque/.test(type) ? `a response of type ${type}: its server hides it from this page (CORS)`
  : status > 200 ? `HTTP status ${status}`
  : 'a response with no body';
