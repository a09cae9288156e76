// The platforms that have a package with the command.

/** From the names of Node, PLATFORM-ARCH, to those of Go. */
export const platforms = {
  'linux-x64': { GOOS: 'linux', GOARCH: 'amd64' },
  'linux-arm64': { GOOS: 'linux', GOARCH: 'arm64' },
  'darwin-x64': { GOOS: 'darwin', GOARCH: 'amd64' },
  'darwin-arm64': { GOOS: 'darwin', GOARCH: 'arm64' },
  'win32-x64': { GOOS: 'windows', GOARCH: 'amd64' },
};

/** The platform of this machine, which may have no package. */
export const native = `${process.platform}-${process.arch}`;

/** Returns the name of the package of a platform. */
export const packageOf = (platform) => `@bloomery/cli-${platform}`;

/** Returns the path of the command in the package of a platform. */
export const commandOf = (platform) => `bin/bloomery${platform.startsWith('win32') ? '.exe' : ''}`;
