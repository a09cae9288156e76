package ph

import (
	"bufio"
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/gopacket/gopacket"
	"github.com/gopacket/gopacket/layers"
	"github.com/gopacket/gopacket/pcapgo"

	"github.com/bloomery/bloomery/keyio"
	"github.com/bloomery/bloomery/lab/experiment"
)

// defaultCapture stands in for the trace of the paper: see data/NOTICE.
//
//go:embed data/cip.pcap.zst
var defaultCapture []byte

// Limits of a capture, so that any file ends and fits into memory.
const (
	maxCapture  = 1 << 30 // bytes that are read, after decompression
	maxPayloads = 200_000 // different ones; more are not read
)

// payloads returns the different payloads of Config.Packets or of the default capture, in their order, and what to call
// where they come from.
func payloads(c experiment.Config) (all [][]byte, from string, err error) {
	if c.Packets == "" {
		all, err = readPayloads(bytes.NewReader(defaultCapture))
		return all, "the capture cip.pcap of the gopacket project", err
	}
	f, err := os.Open(c.Packets)
	if err != nil {
		return nil, "", err
	}
	defer f.Close()
	if all, err = readPayloads(f); err != nil {
		return nil, "", fmt.Errorf("%s: %w", c.Packets, err)
	}
	return all, c.Packets, nil
}

// readPayloads returns the different payloads above TCP, UDP and the like of a capture, pcap or pcapng, plain or compressed
// by gzip or zstd. Packets without one, fragments and what cannot be decoded are left out. A capture that ends within a
// packet, or is none, gives an error.
func readPayloads(r io.Reader) ([][]byte, error) {
	plain, err := keyio.Decompress(r)
	if err != nil {
		return nil, err
	}
	defer plain.Close()
	failing := &lastError{r: plain}
	limited := &io.LimitedReader{R: failing, N: maxCapture}
	packets, err := capture(bufio.NewReader(limited))
	if err != nil {
		return nil, fmt.Errorf("not a capture: %w", err)
	}
	seen := make(map[string]bool)
	var all [][]byte
	for n := 0; len(all) < maxPayloads; n++ {
		data, info, err := packets.ReadPacketData()
		if err == io.EOF { // the readers say so too where a header is the last that there is, and after errors
			if err = failing.err; err == nil && info.CaptureLength > 0 {
				err = io.ErrUnexpectedEOF
			} else if err == nil {
				err = io.EOF
			}
		}
		switch {
		case limited.N == 0:
			return nil, fmt.Errorf("more than %d bytes; give a part of the capture", maxCapture)
		case err == io.EOF:
			return all, nil
		case failing.err == nil && errors.Is(err, io.ErrUnexpectedEOF):
			return nil, fmt.Errorf("after %d packets: the capture ends too early; is the file complete? %w", n, err)
		case err != nil:
			return nil, fmt.Errorf("after %d packets: %w", n, err)
		}
		// gopacket turns a panic of a decoder into an error layer.
		layer := gopacket.NewPacket(data, packets.LinkType(), gopacket.DecodeOptions{Lazy: true, NoCopy: true}).TransportLayer()
		if layer == nil {
			continue
		}
		if p := layer.LayerPayload(); len(p) > 0 && !seen[string(p)] {
			seen[string(p)] = true
			all = append(all, bytes.Clone(p))
		}
	}
	return all, nil
}

// packetReader is what the readers of both kinds of file have.
type packetReader interface {
	ReadPacketData() ([]byte, gopacket.CaptureInfo, error)
	LinkType() layers.LinkType
}

// capture returns the reader for the kind of file that its first bytes name.
func capture(r *bufio.Reader) (packetReader, error) {
	magic, err := r.Peek(4)
	switch {
	case err == io.EOF:
		return nil, io.ErrUnexpectedEOF
	case err != nil:
		return nil, err
	case bytes.HasPrefix(magic, []byte{0x1f, 0x8b}):
		return nil, errors.New("compressed twice") // the reader for pcap would go on
	case bytes.Equal(magic, []byte{0x0a, 0x0d, 0x0d, 0x0a}):
		return pcapgo.NewNgReader(r, pcapgo.DefaultNgReaderOptions)
	}
	return pcapgo.NewReader(r)
}

// lastError remembers an error other than the end.
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
