package publish

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/untrusted"
)

// PublicSuffix is the suffix of the file with the public key, beside that of the private one.
const PublicSuffix = ".pub"

// maxKeyFile is the largest length of a file with a key.
const maxKeyFile = 4 << 10

// CreateKey makes a new key. It writes the private key to path, readable by its owner only, and the public one to
// path.pub. It replaces no file: the error then wraps fs.ErrExist.
func CreateKey(path string) (PublicKey, error) {
	k, err := NewKey()
	if err != nil {
		return PublicKey{}, err
	}
	if err := createFile(path+PublicSuffix, k.Public().String(), 0o644); err != nil {
		return PublicKey{}, err
	}
	if err := createFile(path, k.Text(), 0o600); err != nil {
		return PublicKey{}, errors.Join(err, os.Remove(path+PublicSuffix))
	}
	return k.Public(), nil
}

// createFile creates a file with a line of text. On error it leaves none.
func createFile(path, text string, mode os.FileMode) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	_, err = io.WriteString(f, text+"\n")
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return errors.Join(err, os.Remove(path))
	}
	return nil
}

// isKeyText reports whether the content of a file begins like a key.
func isKeyText(b []byte) bool {
	return bytes.HasPrefix(b, []byte(privatePrefix)) || bytes.HasPrefix(b, []byte(publicPrefix))
}

// ReadPrivateKey reads a private key from a file. If the file with its public key stands beside it, as CreateKey writes
// it, the two must belong together: a key has no checksum of its own. The error wraps ErrKey, or is that of the file
// system.
func ReadPrivateKey(path string) (PrivateKey, error) {
	text, err := readKeyFile(path)
	if err != nil {
		return PrivateKey{}, err
	}
	k, err := ParsePrivateKey(text)
	if err != nil {
		return PrivateKey{}, fmt.Errorf("%s: %w", path, err)
	}
	public, err := FindPublicKey(path + PublicSuffix)
	switch {
	case errors.Is(err, ErrKey):
		return PrivateKey{}, err
	case err != nil: // there is none
		return k, nil
	case public != k.Public():
		return PrivateKey{}, fmt.Errorf("%s: %w: %s is the public key of another one, or one of the two is damaged", path,
			ErrKey, path+PublicSuffix)
	}
	return k, nil
}

// FindPublicKey returns the public key of a text, "ed25519:" and base64, or of the file with that text that it names.
// The error wraps ErrKey, or is that of the file system.
func FindPublicKey(textOrPath string) (PublicKey, error) {
	if strings.HasPrefix(textOrPath, publicPrefix) || strings.HasPrefix(textOrPath, privatePrefix) {
		return ParsePublicKey(textOrPath)
	}
	text, err := readKeyFile(textOrPath)
	if err != nil {
		return PublicKey{}, err
	}
	k, err := ParsePublicKey(text)
	if err != nil {
		err = fmt.Errorf("%s: %w", textOrPath, err)
	}
	return k, err
}

func readKeyFile(path string) (string, error) {
	b, err := untrusted.ReadFile(context.Background(), path, untrusted.Limit{MaxBytes: maxKeyFile})
	if errors.Is(err, filter.ErrTooLarge) {
		err = fmt.Errorf("%s: %w: more than %d bytes; want a file as bloomery keygen writes them", path, ErrKey,
			maxKeyFile)
	}
	return string(b), err
}
