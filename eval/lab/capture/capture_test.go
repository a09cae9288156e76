package capture

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gopacket/gopacket"
	"github.com/gopacket/gopacket/layers"
	"github.com/gopacket/gopacket/pcapgo"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// captures returns a pcap and a pcapng file with the payloads a, b, a, none and c, and a packet that is not IP.
func captures(t *testing.T) map[string][]byte {
	t.Helper()
	var classic, ng bytes.Buffer
	w := pcapgo.NewWriter(&classic)
	if err := w.WriteFileHeader(65536, layers.LinkTypeEthernet); err != nil {
		t.Fatal(err)
	}
	nw, err := pcapgo.NewNgWriter(&ng, layers.LinkTypeEthernet)
	if err != nil {
		t.Fatal(err)
	}
	write := func(data []byte) {
		ci := gopacket.CaptureInfo{CaptureLength: len(data), Length: len(data)}
		if err := errors.Join(w.WritePacket(ci, data), nw.WritePacket(ci, data)); err != nil {
			t.Fatal(err)
		}
	}
	for _, payload := range []string{"a", "b", "a", "", "c"} {
		ip := &layers.IPv4{
			Version:  4,
			TTL:      9,
			Protocol: layers.IPProtocolUDP,
			SrcIP:    []byte{10, 0, 0, 1},
			DstIP:    []byte{10, 0, 0, 2},
		}
		b := gopacket.NewSerializeBuffer()
		err := gopacket.SerializeLayers(b, gopacket.SerializeOptions{FixLengths: true},
			&layers.Ethernet{SrcMAC: make([]byte, 6), DstMAC: make([]byte, 6), EthernetType: layers.EthernetTypeIPv4},
			ip, &layers.UDP{SrcPort: 4000, DstPort: 4001}, gopacket.Payload(payload))
		if err != nil {
			t.Fatal(err)
		}
		write(b.Bytes())
	}
	write([]byte("no packet at all"))
	if err := nw.Flush(); err != nil {
		t.Fatal(err)
	}
	return map[string][]byte{"pcap": classic.Bytes(), "pcapng": ng.Bytes()}
}

// TestPayloads reads both formats, plain and compressed, and the default capture.
func TestPayloads(t *testing.T) {
	for kind, plain := range captures(t) {
		var zipped bytes.Buffer
		z := gzip.NewWriter(&zipped)
		z.Write(plain)
		z.Close()
		e, _ := zstd.NewWriter(nil)
		for suffix, data := range map[string][]byte{"": plain, ".gz": zipped.Bytes(), ".zst": e.EncodeAll(plain, nil)} {
			path := filepath.Join(t.TempDir(), "x."+kind+suffix)
			if err := os.WriteFile(path, data, 0o600); err != nil {
				t.Fatal(err)
			}
			got, from, err := Payloads(path)
			if err != nil || from != path || fmt.Sprintf("%s", got) != "[a b c]" {
				t.Errorf("%s%s: %q, %v", kind, suffix, got, err)
			}
		}
	}
	got, _, err := Payloads("")
	if err != nil || len(got) != 11_013 {
		t.Errorf("the default capture: %d payloads, %v", len(got), err)
	}
	if _, _, err := Payloads(filepath.Join(t.TempDir(), "none")); !errors.Is(
		err,
		os.ErrNotExist,
	) {
		t.Errorf("a file that is not there: %v", err)
	}
}

// TestPayloadsHostile truncates captures at every byte, changes every byte and reads data that are not a capture. The
// result must be an error or fewer payloads, not a panic or a large allocation.
func TestPayloadsHostile(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for kind, plain := range captures(t) {
		errs := 0
		for cut := range plain {
			if got, err := readPayloads(bytes.NewReader(plain[:cut])); err != nil {
				errs++
			} else if len(got) > 3 {
				t.Errorf("%s: cut at %d gives %q", kind, cut, got)
			}
			for _, b := range []byte{0, 0xff, byte(r.Uint32())} {
				bad := bytes.Clone(plain)
				bad[cut] = b
				_, _ = readPayloads(bytes.NewReader(bad))
			}
		}
		if errs < len(plain)*9/10 {
			t.Errorf("%s: %d of %d cuts give an error", kind, errs, len(plain))
		}
		for _, wrap := range []func(w io.Writer) io.WriteCloser{
			func(w io.Writer) io.WriteCloser { return gzip.NewWriter(w) },
			func(w io.Writer) io.WriteCloser { z, _ := zstd.NewWriter(w); return z },
		} {
			var b bytes.Buffer
			z := wrap(&b)
			z.Write(plain)
			z.Close()
			for cut := range b.Len() {
				if got, err := readPayloads(bytes.NewReader(b.Bytes()[:cut])); err == nil && len(got) != 3 {
					t.Errorf("%s, compressed and cut at %d: %q", kind, cut, got)
				}
			}
		}
	}
	// A zstd window of 2^28 bytes (RFC 8878).
	if _, err := readPayloads(strings.NewReader("\x28\xb5\x2f\xfd\x00\x90\x11\x00\x00a\n")); !errors.Is(
		err,
		zstd.ErrWindowSizeExceeded,
	) {
		t.Errorf("a window of 256 MiB: %v", err)
	}
	garbage := make([]byte, 4096)
	for range 200 {
		for i := range garbage {
			garbage[i] = byte(r.Uint32())
		}
		if _, err := readPayloads(bytes.NewReader(garbage)); err == nil {
			t.Error("garbage is a capture")
		}
	}
	if _, err := readPayloads(bytes.NewReader(nil)); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("an empty file: %v", err)
	}
	// Packet headers that state a length of 4 GiB.
	huge := append(bytes.Clone(captures(t)["pcap"][:24]), bytes.Repeat([]byte{0xff}, 16)...)
	copy(huge[16:20], []byte{0xff, 0xff, 0xff, 0xff})
	if _, err := readPayloads(bytes.NewReader(huge)); err == nil {
		t.Error("a packet of 4 GiB in 40 bytes")
	}
}
