//go:build !unix

package container

import (
	"errors"
	"os"
)

func mapFile(*os.File) ([]byte, func() error, error) { return nil, nil, errors.ErrUnsupported }
