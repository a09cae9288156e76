package steps

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"io/fs"

	"github.com/bloomery/bloomery/internal/families"
	"github.com/bloomery/bloomery/internal/hashes"
	"github.com/bloomery/bloomery/internal/intake"
	"github.com/bloomery/bloomery/internal/sums"
)

// The shard index says for every shard where its segments are: one row a shard, so that the task of a shard reads only
// its own part, then the segments of shard 0, of shard 1, ... All integers are little endian.
//
//	header    48 bytes: magic "BLMINDEX", version 1 (4), shards (4), plan id (16), segments (8), 0s
//	rows      40 bytes each: first segment (8), segments (8), keys (8), CRC-32C of the segments (4), 0s (8), CRC-32C of
//	          the header, the number of the shard (4) and the row up to here (4)
//	segments  20 bytes each: range (4), offset in its run file (8), number of hashes (4), CRC-32C of the hashes (4)
const (
	indexHeader  = 48
	rowSize      = 40
	segmentSize  = 20
	indexMagic   = "BLMINDEX"
	indexVersion = 1
)

func (p *Plan) indexName() string { return p.workName("index") }

// Gather requires the results of all ranges and writes the shard index, which Build reads. done has the results of all
// ranges in any order, possibly with duplicates; if it is nil, Gather reads the run files. Gather keeps a finished
// index. It returns the number of keys. The error wraps ErrMissing and names the ranges that are not finished,
// filter.ErrConfig if there are more shards than keys, and more than 4,096, filter.ErrKeys if the number of keys is not
// Plan.ExactKeys, or filter.ErrTooLarge if the set would exceed Plan.MaxBytes.
func (p *Plan) Gather(ctx context.Context, out Store, done []Done, o Options) (keys uint64, err error) {
	all, err := p.results(ctx, out, done, o)
	if err != nil {
		return 0, err
	}

	segments := uint64(0)
	for _, x := range all {
		keys += x.Keys()
		x.Each(func(int, hashes.Segment) { segments++ })
	}
	if err := p.checkKeys(keys); err != nil {
		return keys, err
	}

	header := p.indexHeader(segments)
	// The header depends on the plan and the number of segments, so an equal one belongs to a finished index.
	if there, _, err := p.readHeader(ctx, out); err == nil && bytes.Equal(there, header) {
		return keys, nil
	}

	rows, list := p.shardMajor(all, header, segments)
	return keys, out.Write(ctx, p.indexName(), func(w io.Writer) error {
		_, err := io.Copy(w, io.MultiReader(bytes.NewReader(header), bytes.NewReader(rows), bytes.NewReader(list)))
		return err
	})
}

// checkKeys returns an error if the set must not have this number of keys, duplicates included.
func (p *Plan) checkKeys(keys uint64) error {
	if p.ExactKeys != 0 && keys != p.ExactKeys {
		return &intake.KeysError{Announced: p.ExactKeys, Added: keys}
	}
	if err := hashes.CheckShards(p.Shards, keys); err != nil || p.MaxBytes == 0 {
		return err
	}

	f, err := families.ByName(p.Spec.Family())
	if err != nil {
		return err
	}
	return intake.CheckSetSize(f, p.Spec, p.Shards, keys, p.MaxBytes)
}

func (p *Plan) indexHeader(segments uint64) []byte {
	b := append(make([]byte, 0, indexHeader), indexMagic...)
	b = binary.LittleEndian.AppendUint32(b, indexVersion)
	b = binary.LittleEndian.AppendUint32(b, uint32(p.Shards))
	id := p.header(0).Plan
	b = append(b, id[:]...)
	return binary.LittleEndian.AppendUint64(b, segments)[:indexHeader]
}

func (p *Plan) results(ctx context.Context, out Source, done []Done, o Options) ([]*hashes.Index, error) {
	all := make([]*hashes.Index, len(p.Ranges))
	for _, d := range done {
		if d.Range < 0 || d.Range >= len(all) || d.Index == nil {
			return nil, fmt.Errorf("a result of range %d, of %d", d.Range, len(all))
		}
		if err := d.Index.Check(p.Shards); err != nil {
			return nil, err
		}
		all[d.Range] = d.Index
	}
	return all, require(ctx, "range", len(all), func(ctx context.Context, i int) (err error) {
		if done == nil {
			all[i], err = p.finished(ctx, out, i)
		} else if all[i] == nil {
			err = fs.ErrNotExist
		}
		return err
	})
}

// shardMajor returns the rows and the segments of the shard index.
func (p *Plan) shardMajor(all []*hashes.Index, header []byte, segments uint64) (text, list []byte) {
	rows := make([]row, p.Shards)
	for _, x := range all {
		x.Each(func(s int, g hashes.Segment) {
			rows[s].Segments++
			rows[s].Keys += uint64(g.Keys)
		})
	}

	next := make([]uint64, p.Shards) // by shard, the number of the segment that comes next
	at := uint64(0)
	for s := range rows {
		rows[s].First, next[s] = at, at
		at += rows[s].Segments
	}

	list = make([]byte, segments*segmentSize)
	for i, x := range all {
		x.Each(func(s int, g hashes.Segment) {
			b := list[next[s]*segmentSize:]
			binary.LittleEndian.PutUint32(b, uint32(i))
			binary.LittleEndian.PutUint64(b[4:], uint64(g.Offset))
			binary.LittleEndian.PutUint32(b[12:], g.Keys)
			binary.LittleEndian.PutUint32(b[16:], g.CRC)
			next[s]++
		})
	}

	for s, r := range rows {
		r.CRC = sums.CRC(list[r.First*segmentSize : next[s]*segmentSize])
		b, _ := binary.Append(nil, binary.LittleEndian, r) // never fails: a row has a fixed size
		text = binary.LittleEndian.AppendUint32(append(text, b...), rowSum(header, s, b))
	}
	return text, list
}

// row is the row of a shard in the shard index, without its checksum.
type row struct {
	First, Segments, Keys uint64
	CRC                   uint32
	_                     [2]uint32
}

func rowSum(header []byte, s int, row []byte) uint32 {
	return sums.CRC(header, binary.LittleEndian.AppendUint32(nil, uint32(s)), row)
}

// segment is a part of the run file of a range, as in the shard index.
type segment struct {
	Range uint32
	hashes.Segment
}

// readHeader returns the header of the shard index, and the number of its segments.
func (p *Plan) readHeader(ctx context.Context, out Source) (header []byte, segments uint64, err error) {
	st, err := out.Stat(ctx, p.indexName())
	if err != nil {
		return nil, 0, err
	}
	if header, err = readPart(ctx, out, p.indexName(), 0, indexHeader); err != nil {
		return nil, 0, err
	}
	if len(header) < indexHeader {
		return nil, 0, p.damaged("it is cut")
	}

	segments = binary.LittleEndian.Uint64(header[32:])
	if !bytes.Equal(header, p.indexHeader(segments)) || segments > uint64(st.Size)/segmentSize ||
		uint64(st.Size) != indexHeader+uint64(p.Shards)*rowSize+segments*segmentSize {
		return nil, 0, p.damaged("its header or size is wrong")
	}
	return header, segments, nil
}

func (p *Plan) damaged(what string) error {
	return fmt.Errorf("%s: %w: %s", p.indexName(), hashes.ErrDamaged, what)
}

// segments returns the segments with the hashes of a shard, and the number of hashes.
func (p *Plan) segments(ctx context.Context, out Source, s int) (all []segment, keys uint64, err error) {
	header, total, err := p.readHeader(ctx, out)
	if err != nil {
		return nil, 0, err
	}

	b, err := readPart(ctx, out, p.indexName(), indexHeader+int64(s)*rowSize, rowSize)
	if err != nil {
		return nil, 0, err
	}

	var r row
	if end, _ := binary.Decode(b, binary.LittleEndian, &r); len(b) < rowSize ||
		binary.LittleEndian.Uint32(b[end:]) != rowSum(header, s, b[:end]) {
		return nil, 0, p.damaged("a checksum is wrong")
	}
	if r.First > total || r.Segments > total-r.First {
		return nil, 0, p.damaged("a row leads out of it")
	}

	var list []byte
	if r.Segments > 0 {
		at := indexHeader + int64(p.Shards)*rowSize + int64(r.First)*segmentSize
		if list, err = readPart(ctx, out, p.indexName(), at, int64(r.Segments)*segmentSize); err != nil {
			return nil, 0, err
		}
	}
	if uint64(len(list)) != r.Segments*segmentSize || sums.CRC(list) != r.CRC {
		return nil, 0, p.damaged("a checksum is wrong")
	}

	all = make([]segment, r.Segments)
	_, _ = binary.Decode(list, binary.LittleEndian, all) // the length is right
	for _, g := range all {
		keys += uint64(g.Keys)
	}
	if keys != r.Keys {
		return nil, 0, p.damaged("the keys of a row do not add up")
	}
	return all, keys, nil
}
