// Modules that are inlined in the package.

/**
 * Compiles a module, compressed (zlib), in base64. It rejects if WebAssembly is missing or the page's
 * Content-Security-Policy forbids it.
 *
 * It unpacks not by a Blob, whose stream detaches buffers: V8 reads all typed arrays more slowly from then on.
 */
export async function compile(text: string): Promise<WebAssembly.Module> {
  const { readable, writable } = new DecompressionStream('deflate'), writer = writable.getWriter();
  writer.write(Uint8Array.from(atob(text), (c) => c.charCodeAt(0)));
  writer.close();
  return WebAssembly.compile(await new Response(readable).arrayBuffer());
}
