package runtimeproxy

import (
	"fmt"

	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/proto"
)

// frame is a message as it came from the wire. What is sent is given away, and must not be used afterwards.
type frame struct{ data mem.BufferSlice }

// bytes of the frame in one piece, valid until free.
func (f *frame) bytes() []byte {
	if len(f.data) == 1 {
		return f.data[0].ReadOnlyData()
	}
	return f.data.Materialize()
}

// free gives the memory back. It may be called more than once.
func (f *frame) free() {
	f.data.Free()
	f.data = nil
}

// replace puts a message in the place of what came from the wire.
func (f *frame) replace(message proto.Message) error {
	content, err := proto.Marshal(message)
	if err != nil {
		return fmt.Errorf("encode %s: %w", message.ProtoReflect().Descriptor().FullName(), err)
	}
	f.free()
	f.data = mem.BufferSlice{mem.SliceBuffer(content)}
	return nil
}

// codec passes frames without looking into them. It is called proto, because that is what both ends speak.
type codec struct{}

// Marshal implements encoding.CodecV2.
func (codec) Marshal(message any) (mem.BufferSlice, error) {
	switch m := message.(type) {
	case *frame:
		data := m.data
		m.data = nil
		return data, nil
	case proto.Message:
		content, err := proto.Marshal(m)
		return mem.BufferSlice{mem.SliceBuffer(content)}, err
	}
	return nil, fmt.Errorf("send %T: not a frame", message)
}

// Unmarshal implements encoding.CodecV2.
func (codec) Unmarshal(data mem.BufferSlice, message any) error {
	switch m := message.(type) {
	case *frame:
		data.Ref()
		m.free()
		m.data = data
		return nil
	case proto.Message:
		return proto.Unmarshal(data.Materialize(), m)
	}
	return fmt.Errorf("receive %T: not a frame", message)
}

// Name implements encoding.CodecV2.
func (codec) Name() string { return "proto" }
