// Modules that are inlined in the package.

/**
 * Compiles a module, compressed (zlib), in base64. It rejects if WebAssembly is missing or the page's
 * Content-Security-Policy forbids it.
 *
 * It unpacks neither by a Blob, whose stream detaches buffers: V8 reads all typed arrays more slowly from then on; nor
 * by a Response, for which Node loads its HTTP client.
 */
export async function compile(text: string): Promise<WebAssembly.Module> {
  const { readable, writable } = new DecompressionStream('deflate'), writer = writable.getWriter();
  const reader = readable.getReader(), bytes: number[] = [];
  writer.write(Uint8Array.from(atob(text), (c) => c.charCodeAt(0)));
  writer.close();
  for (let r; !(r = await reader.read()).done; ) bytes.push(...r.value); // modules are small: that many arguments
  return WebAssembly.compile(Uint8Array.from(bytes));
}
