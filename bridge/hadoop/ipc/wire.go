package ipc

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"google.golang.org/protobuf/encoding/protowire"
)

// MaxFrame is the largest frame that is read or written, in bytes. Hadoop's own limit, ipc.maximum.data.length, is 128 MiB by default.
const MaxFrame = 128 << 20

// readStep is how much of a frame is read at once, so that a length that is a lie costs no memory.
const readStep = 1 << 20

// Values of RpcRequestHeaderProto.
const (
	kindProtobuf = 2
	finalPacket  = 0
	contextCall  = -3
	saslCall     = -33
	noRetries    = -1
)

// appendDelimited appends a message with its length.
func appendDelimited(to, message []byte) []byte {
	return append(protowire.AppendVarint(to, uint64(len(message))), message...)
}

// takeDelimited splits a message with its length off.
func takeDelimited(from []byte) (message, rest []byte, err error) {
	message, n := protowire.ConsumeBytes(from)
	if n < 0 {
		return nil, nil, fmt.Errorf("read a message: %w", protowire.ParseError(n))
	}
	return message, from[n:], nil
}

// writeFrame writes messages as one frame.
func writeFrame(w io.Writer, messages ...[]byte) error {
	frame := make([]byte, 4, 512)
	for _, message := range messages {
		frame = appendDelimited(frame, message)
	}
	if len(frame) > MaxFrame {
		return fmt.Errorf("write a frame of %d bytes: at most %d are allowed", len(frame), MaxFrame)
	}
	binary.BigEndian.PutUint32(frame, uint32(len(frame)-4))
	_, err := w.Write(frame)
	return err
}

// readFrame reads one frame without its length.
func readFrame(r io.Reader) ([]byte, error) {
	var prefix [4]byte
	if _, err := io.ReadFull(r, prefix[:]); err != nil {
		return nil, fmt.Errorf("read the length of a frame: %w", err)
	}
	length := binary.BigEndian.Uint32(prefix[:])
	if length > MaxFrame {
		return nil, fmt.Errorf("read a frame of %d bytes: at most %d are allowed; the server may not be one of Hadoop", length, MaxFrame)
	}
	frame := make([]byte, 0, min(length, readStep))
	for uint32(len(frame)) < length {
		step := min(int(length)-len(frame), readStep)
		frame = append(frame, make([]byte, step)...)
		if _, err := io.ReadFull(r, frame[len(frame)-step:]); err != nil {
			return nil, fmt.Errorf("read a frame of %d bytes: %w", length, err)
		}
	}
	return frame, nil
}

// requestHeader is a RpcRequestHeaderProto.
func requestHeader(call int32, client [16]byte) []byte {
	var b []byte
	b = protowire.AppendTag(b, 1, protowire.VarintType)
	b = protowire.AppendVarint(b, kindProtobuf)
	b = protowire.AppendTag(b, 2, protowire.VarintType)
	b = protowire.AppendVarint(b, finalPacket)
	b = protowire.AppendTag(b, 3, protowire.VarintType)
	b = protowire.AppendVarint(b, protowire.EncodeZigZag(int64(call)))
	b = protowire.AppendTag(b, 4, protowire.BytesType)
	b = protowire.AppendBytes(b, client[:])
	b = protowire.AppendTag(b, 5, protowire.VarintType)
	return protowire.AppendVarint(b, protowire.EncodeZigZag(noRetries))
}

// connectionContext is an IpcConnectionContextProto. A user that a token stands for is not named.
func connectionContext(user, protocol string) []byte {
	var b []byte
	if user != "" {
		b = protowire.AppendTag(b, 2, protowire.BytesType)
		b = protowire.AppendBytes(b, protowire.AppendString(protowire.AppendTag(nil, 1, protowire.BytesType), user))
	}
	b = protowire.AppendTag(b, 3, protowire.BytesType)
	return protowire.AppendString(b, protocol)
}

// methodHeader is a RequestHeaderProto.
func methodHeader(method, protocol string) []byte {
	var b []byte
	b = protowire.AppendTag(b, 1, protowire.BytesType)
	b = protowire.AppendString(b, method)
	b = protowire.AppendTag(b, 2, protowire.BytesType)
	b = protowire.AppendString(b, protocol)
	b = protowire.AppendTag(b, 3, protowire.VarintType)
	return protowire.AppendVarint(b, 1)
}

// responseHeader is the part of a RpcResponseHeaderProto that matters.
type responseHeader struct {
	call           int32
	status         uint64
	class, message string
}

// Values of RpcStatusProto.
const (
	statusSuccess = 0
	statusFatal   = 2
)

func parseResponseHeader(header []byte) (out responseHeader, err error) {
	out.call = -1
	err = Fields(header, func(number protowire.Number, value Value) {
		switch number {
		case 1:
			out.call = int32(value.Varint) //nolint:gosec // calls below zero are sent as large numbers
		case 2:
			out.status = value.Varint
		case 4:
			out.class = string(value.Bytes)
		case 5:
			out.message = string(value.Bytes)
		}
	})
	if err != nil {
		return out, fmt.Errorf("read the header of a response: %w", err)
	}
	return out, nil
}

// Value is the value of one field: Varint of numbers, Bytes of text and messages.
type Value struct {
	Varint uint64
	Bytes  []byte
}

// Fields calls each for the fields of a message, in their order. Fixed-width numbers and groups are skipped.
func Fields(message []byte, each func(protowire.Number, Value)) error {
	for len(message) > 0 {
		number, kind, n := protowire.ConsumeTag(message)
		if n < 0 {
			return fmt.Errorf("read a field's tag: %w", protowire.ParseError(n))
		}
		message = message[n:]
		var value Value
		switch kind {
		case protowire.VarintType:
			value.Varint, n = protowire.ConsumeVarint(message)
		case protowire.BytesType:
			value.Bytes, n = protowire.ConsumeBytes(message)
		default:
			n = protowire.ConsumeFieldValue(number, kind, message)
		}
		if n < 0 {
			return fmt.Errorf("read field %d: %w", number, protowire.ParseError(n))
		}
		message = message[n:]
		if kind == protowire.VarintType || kind == protowire.BytesType {
			each(number, value)
		}
	}
	return nil
}

// RemoteError is an exception of the server.
type RemoteError struct {
	// Class of the exception in Java, such as org.apache.hadoop.ipc.StandbyException.
	Class string
	// Message of it, whose stack trace is left out.
	Message string
	// Fatal is true when the server has closed the connection.
	Fatal bool
}

// Error is the exception as Hadoop's own clients print it.
func (e *RemoteError) Error() string { return e.Class + ": " + e.Message }

// IsRemote says whether an error is an exception of the class.
func IsRemote(err error, class string) bool {
	remote, ok := errors.AsType[*RemoteError](err)
	return ok && remote.Class == class
}
