package live

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"
	"google.golang.org/protobuf/encoding/protowire"
)

const (
	// batchSize is the number of items decoded at a time.
	batchSize = 128
	// itemLimit is the size no object of an API server reaches; etcd's own limit is 1.5 MiB.
	itemLimit = 64 << 20
)

// split reads a list and hands on the bytes of each item, which are the callee's until it recycles them.
type split func(r io.Reader, item func([]byte) error) error

// errLeftOut is of an item that nobody asks for.
var errLeftOut = errors.New("left out")

// collect decodes the items of a list while the list is still arriving, on all CPUs, and keeps their order. What decode
// makes must not refer to the bytes it was made from. An item for which it says errLeftOut is not kept.
func collect[T any](r io.Reader, items split, decode func([]byte, *T) error) ([]T, error) {
	var mu sync.Mutex
	var batches [][]T
	workers := errgroup.Group{}
	workers.SetLimit(runtime.GOMAXPROCS(0))
	start := func(raw [][]byte) {
		mu.Lock()
		index := len(batches)
		batches = append(batches, nil)
		mu.Unlock()
		workers.Go(func() error {
			decoded := make([]T, 0, len(raw))
			for i := range raw {
				decoded = decoded[:len(decoded)+1]
				err := decode(raw[i], &decoded[len(decoded)-1])
				if err != nil && !errors.Is(err, errLeftOut) {
					return err
				}
				if err != nil {
					var none T
					decoded[len(decoded)-1], decoded = none, decoded[:len(decoded)-1]
				}
				recycle(raw[i])
			}
			if len(decoded) < len(raw)/2 {
				decoded = slices.Clone(decoded) // the rest of the room is garbage
			}
			mu.Lock()
			batches[index] = decoded
			mu.Unlock()
			return nil
		})
	}
	var pending [][]byte
	err := items(r, func(raw []byte) error {
		if pending = append(pending, raw); len(pending) == batchSize {
			start(pending)
			pending = nil
		}
		return nil
	})
	if len(pending) > 0 {
		start(pending)
	}
	if err := errors.Join(err, workers.Wait()); err != nil {
		return nil, err
	}
	return slices.Concat(batches...), nil
}

// buffers are reused, because a list is many times larger than what is kept of it.
var buffers = sync.Pool{New: func() any { return new([]byte) }}

func buffer(size int) []byte {
	b := *buffers.Get().(*[]byte)
	if cap(b) < size {
		return make([]byte, size, max(size, 4096))
	}
	return b[:size]
}

func recycle(b []byte) { buffers.Put(&b) }

var protobufMagic = [4]byte{'k', '8', 's', 0}

// splitProtobuf reads a list in the API server's protobuf: the magic, then a runtime.Unknown whose field 2 holds the
// list, whose field 2 in turn are the items.
func splitProtobuf(r io.Reader, item func([]byte) error) error {
	b := bufio.NewReaderSize(r, 64<<10)
	var magic [4]byte
	if _, err := io.ReadFull(b, magic[:]); err != nil {
		return fmt.Errorf("read the start of the list: %w", err)
	}
	if magic != protobufMagic {
		return fmt.Errorf("the server did not respond in protobuf")
	}
	return eachField(b, -1, func(number protowire.Number, length int64) error {
		if number != 2 {
			return skip(b, length)
		}
		return eachField(b, length, func(number protowire.Number, length int64) error {
			if number != 2 {
				return skip(b, length)
			}
			if length > itemLimit {
				return fmt.Errorf("an item of %d bytes is too large", length)
			}
			raw := buffer(int(length))
			if _, err := io.ReadFull(b, raw); err != nil {
				return fmt.Errorf("read an item of the list: %w", err)
			}
			return item(raw)
		})
	})
}

func skip(b *bufio.Reader, length int64) error {
	_, err := io.CopyN(io.Discard, b, length)
	return err
}

// eachField calls back for every length-delimited field of a message of size bytes; -1 reads to the end. The callback
// consumes the field's bytes.
func eachField(b *bufio.Reader, size int64, field func(protowire.Number, int64) error) error {
	for size != 0 {
		tag, used, err := varint(b)
		if errors.Is(err, io.EOF) && size < 0 {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read a field's tag: %w", err)
		}
		number, kind := protowire.DecodeTag(tag)
		value, more, err := varint(b)
		if err != nil {
			return fmt.Errorf("read field %d: %w", number, err)
		}
		used += more
		switch kind {
		case protowire.VarintType:
		case protowire.BytesType:
			if value > 1<<40 {
				return fmt.Errorf("field %d: a length of %d is impossible", number, value)
			}
			if err := field(number, int64(value)); err != nil {
				return err
			}
			used += int64(value)
		default:
			return fmt.Errorf("field %d: unexpected wire type %d", number, kind)
		}
		if size > 0 {
			if size -= used; size < 0 {
				return fmt.Errorf("field %d ends after its message", number)
			}
		}
	}
	return nil
}

// varint reads one integer and says how many bytes it took. An EOF before the first byte is io.EOF.
func varint(b *bufio.Reader) (value uint64, used int64, err error) {
	for shift := uint(0); shift < 64; shift += 7 {
		c, err := b.ReadByte()
		if err != nil {
			if used > 0 && errors.Is(err, io.EOF) {
				err = io.ErrUnexpectedEOF
			}
			return 0, used, err
		}
		used++
		value |= uint64(c&0x7f) << shift
		if c < 0x80 {
			return value, used, nil
		}
	}
	return 0, used, errors.New("an integer is too long")
}
