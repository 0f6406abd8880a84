package yarn

import (
	"errors"
	"fmt"
	"math"
	"net"
	"strconv"

	"google.golang.org/protobuf/encoding/protowire"

	"koordinator.sh/koord/bridge/hadoop/ipc"
)

// NodeID names a NodeManager.
type NodeID struct {
	Host string
	Port int32
}

// String is HOST:PORT, as YARN prints it.
func (n NodeID) String() string { return net.JoinHostPort(n.Host, strconv.Itoa(int(n.Port))) }

// ParseNodeID reads HOST:PORT.
func ParseNodeID(text string) (NodeID, error) {
	host, port, err := net.SplitHostPort(text)
	if err != nil {
		return NodeID{}, fmt.Errorf("read node ID %.100q: want HOST:PORT", text)
	}
	number, err := strconv.ParseInt(port, 10, 32)
	if err != nil || host == "" || number < 1 || number > math.MaxUint16 {
		return NodeID{}, fmt.Errorf("read node ID %.100q: want HOST:PORT", text)
	}
	return NodeID{Host: host, Port: int32(number)}, nil
}

// Resource is an amount as YARN counts it.
type Resource struct {
	VCores int64
	// MiB of memory.
	MiB int64
}

// NodeState of a NodeManager.
type NodeState uint64

// States of NodeManagers.
const (
	StateNew NodeState = iota + 1
	StateRunning
	StateUnhealthy
	StateDecommissioned
	StateLost
	StateRebooted
	StateDecommissioning
	StateShutdown
)

// Node is a NodeReportProto.
type Node struct {
	ID         NodeID
	State      NodeState
	Used       Resource
	Capability Resource
	Containers int64
	// HTTPAddress is HOST:PORT of the NodeManager's web server.
	HTTPAddress string
}

// getClusterNodesRequest asks for nodes in the states; none means all.
func getClusterNodesRequest(states ...NodeState) []byte {
	var b []byte
	for _, state := range states {
		b = protowire.AppendVarint(protowire.AppendTag(b, 1, protowire.VarintType), uint64(state))
	}
	return b
}

// parseNodes reads a GetClusterNodesResponseProto.
func parseNodes(message []byte) ([]Node, error) {
	var nodes []Node
	var inner error
	err := ipc.Fields(message, func(number protowire.Number, value ipc.Value) {
		if number == 1 {
			node, err := parseNode(value.Bytes)
			nodes, inner = append(nodes, node), errors.Join(inner, err)
		}
	})
	if err := errors.Join(err, inner); err != nil {
		return nil, fmt.Errorf("read the cluster's nodes: %w", err)
	}
	return nodes, nil
}

func parseNode(message []byte) (out Node, err error) {
	var inner error
	resource := func(into *Resource, value ipc.Value) {
		parsed, err := parseResource(value.Bytes)
		*into, inner = parsed, errors.Join(inner, err)
	}
	err = ipc.Fields(message, func(number protowire.Number, value ipc.Value) {
		switch number {
		case 1:
			id, err := parseNodeID(value.Bytes)
			out.ID, inner = id, errors.Join(inner, err)
		case 2:
			out.HTTPAddress = string(value.Bytes)
		case 4:
			resource(&out.Used, value)
		case 5:
			resource(&out.Capability, value)
		case 6:
			out.Containers = signed(value.Varint)
		case 7:
			out.State = NodeState(value.Varint)
		}
	})
	return out, errors.Join(err, inner)
}

func parseNodeID(message []byte) (out NodeID, err error) {
	err = ipc.Fields(message, func(number protowire.Number, value ipc.Value) {
		switch number {
		case 1:
			out.Host = string(value.Bytes)
		case 2:
			out.Port = int32(signed(value.Varint)) //nolint:gosec // the field is an int32
		}
	})
	return out, err
}

func parseResource(message []byte) (out Resource, err error) {
	err = ipc.Fields(message, func(number protowire.Number, value ipc.Value) {
		switch number {
		case 1:
			out.MiB = signed(value.Varint)
		case 2:
			out.VCores = signed(value.Varint)
		}
	})
	return out, err
}

// signed is an int32 or int64 of a message.
func signed(varint uint64) int64 { return int64(varint) } //nolint:gosec // numbers below zero are sent as large ones

func unsigned(number int64) uint64 { return uint64(number) } //nolint:gosec // numbers below zero are sent as large ones

func (n NodeID) encode() []byte {
	b := protowire.AppendString(protowire.AppendTag(nil, 1, protowire.BytesType), n.Host)
	return protowire.AppendVarint(protowire.AppendTag(b, 2, protowire.VarintType), unsigned(int64(n.Port)))
}

func (r Resource) encode() []byte {
	b := protowire.AppendVarint(protowire.AppendTag(nil, 1, protowire.VarintType), unsigned(r.MiB))
	return protowire.AppendVarint(protowire.AppendTag(b, 2, protowire.VarintType), unsigned(r.VCores))
}

// Change is a new capability of a node.
type Change struct {
	Node       NodeID
	Capability Resource
	// TimeoutMillis is how long containers beyond the capability may run on, in milliseconds. Zero kills them at once.
	TimeoutMillis int32
}

// updateNodeResourceRequest is an UpdateNodeResourceRequestProto.
func updateNodeResourceRequest(changes []Change) []byte {
	var b []byte
	for _, change := range changes {
		option := protowire.AppendBytes(protowire.AppendTag(nil, 1, protowire.BytesType), change.Capability.encode())
		option = protowire.AppendVarint(protowire.AppendTag(option, 2, protowire.VarintType), unsigned(int64(change.TimeoutMillis)))
		entry := protowire.AppendBytes(protowire.AppendTag(nil, 1, protowire.BytesType), change.Node.encode())
		entry = protowire.AppendBytes(protowire.AppendTag(entry, 2, protowire.BytesType), option)
		b = protowire.AppendBytes(protowire.AppendTag(b, 1, protowire.BytesType), entry)
	}
	return b
}

// getQueueInfoRequest asks for one queue without its applications and children.
func getQueueInfoRequest(queue string) []byte {
	return protowire.AppendString(protowire.AppendTag(nil, 1, protowire.BytesType), queue)
}

// parsePending reads what is pending of a GetQueueInfoResponseProto.
func parsePending(message []byte) (pending Resource, err error) {
	queue, err := field(message, 1)
	if err == nil {
		queue, err = field(queue, queueStatistics)
	}
	if err == nil {
		err = ipc.Fields(queue, func(number protowire.Number, value ipc.Value) {
			switch number {
			case 10:
				pending.MiB = signed(value.Varint)
			case 14:
				pending.VCores = signed(value.Varint)
			}
		})
	}
	if err != nil {
		return Resource{}, fmt.Errorf("read a queue: %w", err)
	}
	return pending, nil
}

// queueStatistics is the number of that field of QueueInfoProto.
const queueStatistics = 10

// field is the last value of a field that is a message; empty where there is none.
func field(message []byte, wanted protowire.Number) (found []byte, err error) {
	err = ipc.Fields(message, func(number protowire.Number, value ipc.Value) {
		if number == wanted {
			found = value.Bytes
		}
	})
	return found, err
}

// haActive is the state of the ResourceManager that works.
const haActive = 1

// parseHAState reads a GetServiceStatusResponseProto.
func parseHAState(message []byte) (state uint64, err error) {
	err = ipc.Fields(message, func(number protowire.Number, value ipc.Value) {
		if number == 1 {
			state = value.Varint
		}
	})
	return state, err
}
