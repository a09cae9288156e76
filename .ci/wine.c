// bcryptprimitives.dll for Wine 8, which lacks it: Go's runtime loads it when a program starts.
#include <string.h>
#include <windows.h>

BOOLEAN NTAPI SystemFunction036(PVOID, ULONG); // RtlGenRandom

__declspec(dllexport) BOOL WINAPI ProcessPrng(PBYTE p, SIZE_T n) {
  for (ULONG part; n > 0; p += part, n -= part)
    if (!SystemFunction036(p, part = n > 1 << 28 ? 1 << 28 : (ULONG)n)) return FALSE;
  return TRUE;
}

// Wine 8 answers STATUS_NOT_IMPLEMENTED to the newer requests of NtSetInformationFile. Windows versions without them
// answer STATUS_INVALID_INFO_CLASS, for which Go has another way, such as for os.RemoveAll.
static LONG(NTAPI *set_information)(HANDLE, PVOID, PVOID, ULONG, ULONG);

static LONG NTAPI as_old_windows(HANDLE file, PVOID status, PVOID data, ULONG bytes, ULONG request) {
  LONG code = set_information(file, status, data, bytes, request);
  return code == (LONG)0xC0000002 ? (LONG)0xC0000003 : code;
}

// Wine 8 reports success and makes no symbolic link. Tests know systems that refuse it.
static BOOLEAN WINAPI no_link(LPCWSTR link, LPCWSTR target, DWORD flags) {
  SetLastError(ERROR_PRIVILEGE_NOT_HELD);
  return FALSE;
}

// replace makes a function of Wine jump to another one.
static void replace(void *at, void *by) {
  BYTE jump[12] = {0x48, 0xB8, [10] = 0xFF, 0xE0}; // mov rax, by; jmp rax
  DWORD old;
  memcpy(jump + 2, &by, sizeof by);
  VirtualProtect(at, sizeof jump, PAGE_EXECUTE_READWRITE, &old);
  memcpy(at, jump, sizeof jump);
}

BOOL WINAPI DllMain(HINSTANCE self, DWORD reason, LPVOID reserved) {
  if (reason != DLL_PROCESS_ATTACH) return TRUE;
  // The function is a system call of 32 bytes, which may lie anywhere.
  void *at = (void *)GetProcAddress(GetModuleHandleA("ntdll.dll"), "NtSetInformationFile");
  void *moved = VirtualAlloc(NULL, 32, MEM_COMMIT | MEM_RESERVE, PAGE_EXECUTE_READWRITE);
  memcpy(moved, at, 32);
  memcpy(&set_information, &moved, sizeof moved);
  replace(at, (void *)as_old_windows);
  replace((void *)GetProcAddress(GetModuleHandleA("kernel32.dll"), "CreateSymbolicLinkW"), (void *)no_link);
  return TRUE;
}
