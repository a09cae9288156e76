// Package capture reads captures of network packets for experiments whose keys are payloads or flows. A capture comes
// with it.
package capture

import (
	"bufio"
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/gopacket/gopacket"
	"github.com/gopacket/gopacket/layers"
	"github.com/gopacket/gopacket/pcapgo"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// defaultCapture replaces the trace of the paper on partitioned hashing: see data/NOTICE.
//
//go:embed data/cip.pcap.zst
var defaultCapture []byte

// Limits of a capture. They bound the memory that any file needs.
const (
	maxCapture  = 1 << 30 // bytes after decompression
	maxPayloads = 200_000 // distinct payloads; reading stops there
)

// Payloads returns the distinct payloads of the file path, or of the default capture if path is empty, in their order,
// and a name for their source.
func Payloads(path string) (all [][]byte, from string, err error) {
	from, err = openCapture(path, func(r io.Reader) error {
		all, err = readPayloads(r)
		return err
	})
	return all, from, err
}

// Packets calls visit with the packets that have a transport layer, and their times, until visit returns false. It
// reads the file path, or the default capture if path is empty, and returns a name for their source.
func Packets(path string, visit func(packet gopacket.Packet, at time.Time) bool) (from string, err error) {
	return openCapture(path, func(r io.Reader) error { return eachPacket(r, visit) })
}

// openCapture calls read with the file path, or with the default capture if path is empty, and returns a name for it.
func openCapture(path string, read func(r io.Reader) error) (from string, err error) {
	if path == "" {
		return "the capture cip.pcap of the gopacket project", read(bytes.NewReader(defaultCapture))
	}
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	if err := read(f); err != nil {
		return "", fmt.Errorf("%s: %w", path, err)
	}
	return path, nil
}

// decompressed returns a reader of the data in r, which may be compressed by gzip or zstd.
func decompressed(r io.Reader) (io.ReadCloser, error) {
	in := bufio.NewReader(r)
	magic, _ := in.Peek(4) // the first Read returns the same error
	switch {
	case bytes.HasPrefix(magic, []byte("\x1f\x8b")):
		return gzip.NewReader(in)
	case string(magic) == "\x28\xb5\x2f\xfd":
		z, err := zstd.NewReader(in, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(128<<20))
		if err != nil {
			return nil, err
		}
		return z.IOReadCloser(), nil
	}
	return io.NopCloser(in), nil
}

// readPayloads returns the distinct payloads above the transport layer (TCP, UDP and others) of a capture. It skips
// packets without payload. Its errors are the errors of eachPacket.
func readPayloads(r io.Reader) (all [][]byte, err error) {
	seen := make(map[string]bool)
	err = eachPacket(r, func(packet gopacket.Packet, _ time.Time) bool {
		if p := packet.TransportLayer().LayerPayload(); len(p) > 0 && !seen[string(p)] {
			seen[string(p)] = true
			all = append(all, bytes.Clone(p))
		}
		return len(all) < maxPayloads
	})
	return all, err
}

// eachPacket calls visit with the packets of a capture, pcap or pcapng, plain or compressed by gzip or zstd, until
// visit returns false. The data of a packet are valid until visit returns. It skips packets without a transport layer,
// fragments and packets that cannot be decoded. It returns an error if the data are not a capture, end within a packet
// or exceed maxCapture.
func eachPacket(r io.Reader, visit func(packet gopacket.Packet, at time.Time) bool) error {
	plain, err := decompressed(r)
	if err != nil {
		return err
	}
	defer plain.Close()
	failing := &lastError{r: plain}
	limited := &io.LimitedReader{R: failing, N: maxCapture}
	packets, err := open(bufio.NewReader(limited))
	if err != nil {
		return fmt.Errorf("not a capture: %w", err)
	}

	for n := 0; ; n++ {
		data, info, err := packets.ReadPacketData()
		if err == io.EOF { // the readers also return io.EOF after a last header without data, and after errors
			if err = failing.err; err == nil && info.CaptureLength > 0 {
				err = io.ErrUnexpectedEOF
			} else if err == nil {
				err = io.EOF
			}
		}
		switch {
		case limited.N == 0:
			return fmt.Errorf("more than %d bytes; give a part of the capture", maxCapture)
		case err == io.EOF:
			return nil
		case failing.err == nil && errors.Is(err, io.ErrUnexpectedEOF):
			return fmt.Errorf("after %d packets: the capture ends too early; is the file complete? %w", n, err)
		case err != nil:
			return fmt.Errorf("after %d packets: %w", n, err)
		}

		// gopacket turns a panic of a decoder into an error layer.
		packet := gopacket.NewPacket(data, packets.LinkType(), gopacket.DecodeOptions{Lazy: true, NoCopy: true})
		if packet.TransportLayer() != nil && !visit(packet, info.Timestamp) {
			return nil
		}
	}
}

// packetReader is implemented by the readers of both formats.
type packetReader interface {
	ReadPacketData() ([]byte, gopacket.CaptureInfo, error)
	LinkType() layers.LinkType
}

// open returns the reader for the format of the first bytes.
func open(r *bufio.Reader) (packetReader, error) {
	magic, err := r.Peek(4)
	switch {
	case err == io.EOF:
		return nil, io.ErrUnexpectedEOF
	case err != nil:
		return nil, err
	case bytes.HasPrefix(magic, []byte{0x1f, 0x8b}):
		return nil, errors.New("compressed twice") // the pcap reader would decompress it, without our limits
	case bytes.Equal(magic, []byte{0x0a, 0x0d, 0x0d, 0x0a}):
		return pcapgo.NewNgReader(r, pcapgo.DefaultNgReaderOptions)
	}
	return pcapgo.NewReader(r)
}

// lastError wraps a reader and stores its last error other than io.EOF.
type lastError struct {
	r   io.Reader
	err error
}

func (l *lastError) Read(p []byte) (n int, err error) {
	if n, err = l.r.Read(p); err != nil && err != io.EOF {
		l.err = err
	}
	return n, err
}
