/** Runs f with a value in place of a property of an object. */
export async function replaced(object, name, value, f) {
  const old = Object.getOwnPropertyDescriptor(object, name);
  Object.defineProperty(object, name, { value, configurable: true, writable: true });
  try {
    return await f();
  } finally {
    Object.defineProperty(object, name, old);
  }
}
