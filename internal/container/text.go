package container

import (
	"encoding/base64"
	"fmt"

	"github.com/bloomery/bloomery/filter"
)

// DecodeText returns the bytes of a text in base64, in which line breaks do not count. The error wraps
// filter.ErrTooLarge, before memory is allocated, if the text is longer than the text of most bytes, and
// filter.ErrCorrupt if it is not base64.
func DecodeText(text []byte, most int) ([]byte, error) {
	if longest := base64.StdEncoding.EncodedLen(most); len(text) > longest {
		return nil, fmt.Errorf("%d bytes of text, at most %d: %w", len(text), longest, filter.ErrTooLarge)
	}

	b, err := base64.StdEncoding.Strict().AppendDecode(nil, text)
	if err != nil {
		return nil, fmt.Errorf("the text of a set: %w: %w", filter.ErrCorrupt, err)
	}
	return b, nil
}
