package resourcemanagersim

import (
	"encoding/binary"
	"errors"

	"google.golang.org/protobuf/encoding/protowire"

	"koordinator.sh/koord/bridge/hadoop/ipc"
	"koordinator.sh/koord/bridge/yarn"
)

func number(b []byte, field protowire.Number, value int64) []byte {
	return protowire.AppendVarint(protowire.AppendTag(b, field, protowire.VarintType), uint64(value)) //nolint:gosec // as protocol buffers write it
}

func message(b []byte, field protowire.Number, value []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(b, field, protowire.BytesType), value)
}

func encodeResource(r yarn.Resource) []byte { return number(number(nil, 1, r.MiB), 2, r.VCores) }

// encodeNodes is a GetClusterNodesResponseProto.
func (rm *ResourceManager) encodeNodes() []byte {
	out := []byte{}
	for _, key := range rm.order {
		node := rm.nodes[key]
		id := number(message(nil, 1, []byte(node.ID.Host)), 2, int64(node.ID.Port))
		b := message(message(nil, 1, id), 2, []byte(node.HTTPAddress))
		b = message(message(b, 4, encodeResource(node.Used)), 5, encodeResource(node.Capability))
		state := node.State
		if state == 0 {
			state = yarn.StateRunning
		}
		b = number(number(b, 6, node.Containers), 7, int64(state)) //nolint:gosec // states are small
		out = message(out, 1, b)
	}
	return out
}

// encodePending is a GetQueueInfoResponseProto.
func encodePending(pending yarn.Resource) []byte {
	statistics := number(number(nil, 10, pending.MiB), 14, pending.VCores)
	return message(nil, 1, message(message(nil, 1, []byte("root")), 10, statistics))
}

// encodeResponse is a frame that answers a call.
func encodeResponse(call int64, response []byte, err error) []byte {
	header := number(nil, 1, call)
	var thrown *exception
	switch {
	case errors.As(err, &thrown):
		header = number(header, 2, 1)
		header = message(message(header, 4, []byte(thrown.class)), 5, []byte(thrown.message+"\n\tat java.lang.Thread.run"))
	default:
		header = number(header, 2, 0)
	}
	frame := make([]byte, 4)
	frame = append(protowire.AppendVarint(frame, uint64(len(header))), header...)
	if err == nil {
		frame = append(protowire.AppendVarint(frame, uint64(len(response))), response...)
	}
	binary.BigEndian.PutUint32(frame, uint32(len(frame)-4)) //nolint:gosec // responses are small
	return frame
}

// parseChanges reads an UpdateNodeResourceRequestProto.
func parseChanges(request []byte) (changes []yarn.Change, err error) {
	inner := func(b []byte, each func(protowire.Number, ipc.Value)) { err = errors.Join(err, ipc.Fields(b, each)) }
	inner(request, func(_ protowire.Number, entry ipc.Value) {
		var change yarn.Change
		inner(entry.Bytes, func(field protowire.Number, value ipc.Value) {
			switch field {
			case 1:
				inner(value.Bytes, func(field protowire.Number, value ipc.Value) {
					switch field {
					case 1:
						change.Node.Host = string(value.Bytes)
					case 2:
						change.Node.Port = int32(value.Varint) //nolint:gosec // a port
					}
				})
			case 2:
				inner(value.Bytes, func(field protowire.Number, value ipc.Value) { parseOption(&change, field, value, inner) })
			}
		})
		changes = append(changes, change)
	})
	return changes, err
}

func parseOption(change *yarn.Change, field protowire.Number, value ipc.Value, inner func([]byte, func(protowire.Number, ipc.Value))) {
	switch field {
	case 1:
		inner(value.Bytes, func(field protowire.Number, value ipc.Value) {
			switch field {
			case 1:
				change.Capability.MiB = int64(value.Varint) //nolint:gosec // as protocol buffers write it
			case 2:
				change.Capability.VCores = int64(value.Varint) //nolint:gosec // as protocol buffers write it
			}
		})
	case 2:
		change.TimeoutMillis = int32(value.Varint) //nolint:gosec // an int32
	}
}
