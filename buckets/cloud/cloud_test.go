package cloud_test

import (
	"testing"

	"gocloud.dev/blob/fileblob"
	"gocloud.dev/blob/memblob"

	"github.com/bloomery/bloomery/buckets/cloud"
	"github.com/bloomery/bloomery/buckets/internal/storetest"
)

func TestMemory(t *testing.T) {
	storetest.Run(t, cloud.New(memblob.OpenBucket(nil), "", cloud.Driver{}))
}

// TestLate checks that a late worker and a late Finish change no finished set.
func TestLate(t *testing.T) {
	storetest.Late(t, cloud.New(memblob.OpenBucket(nil), "", cloud.Driver{}))
}

func TestPrefix(t *testing.T) {
	b := memblob.OpenBucket(nil)
	other := cloud.New(b, "", cloud.Driver{})
	storetest.Put(t, other, "sets", "not below the prefix")
	storetest.Put(t, other, "sets2/x", "not below the prefix")
	storetest.Run(t, cloud.New(b, "sets/", cloud.Driver{Page: 2}))
}

// TestFiles tests the driver fileblob of gocloud.dev. In gocloud.dev v0.47 each of its writers has a lock of its own,
// so that several may create an object. file:// of package buckets does not use it.
func TestFiles(t *testing.T) {
	b, err := fileblob.OpenBucket(t.TempDir(), &fileblob.Options{NoTempDir: true, Metadata: fileblob.MetadataDontWrite})
	if err != nil {
		t.Fatal(err)
	}
	storetest.RunWithout(t, cloud.New(b, "", cloud.Driver{}), storetest.Lacks{OneCreates: true})
}
