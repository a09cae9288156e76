package transport_test

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"log"
	"strings"
	"testing/fstest"

	"github.com/bloomery/bloomery/publish/transport"
)

// archive is a custom Source that reads a published folder from any file system. See publish.WithSource.
type archive struct{ files fs.FS }

func (a archive) String() string { return "archive" }

func (a archive) Get(_ context.Context, name string, r transport.Request) (*transport.Object, error) {
	f, err := a.files.Open(name)
	if err != nil {
		return nil, err
	}
	st, err := f.Stat()
	if err == nil && st.Size() > r.MaxBytes {
		err = transport.ErrTooLarge
	}
	return &transport.Object{Body: f, Size: st.Size()}, err
}

func Example() {
	var s transport.Source = archive{fstest.MapFS{"release.json": {Data: []byte("{}")}}}
	o, err := s.Get(context.Background(), "release.json", transport.Request{MaxBytes: 64 << 10})
	if err != nil {
		log.Fatal(err)
	}
	defer o.Body.Close()
	text, err := io.ReadAll(o.Body)
	fmt.Println(s, string(text), err)
	// Output: archive {} <nil>
}

func ExampleOpen() {
	source, err := transport.Open("https://user:password@lists.example/list/release.json?token=7", transport.Config{})
	fmt.Println(source, err, strings.Contains(source.String(), "password"))
	// Output: https://lists.example/list <nil> false
}
