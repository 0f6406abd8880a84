// Package resourcemanagersim simulates YARN's ResourceManager for tests and measurements: it speaks the same protocol, keeps nodes and what is
// allocated on them, and applies changes of their capacity before it answers, which the real one does soon after. It schedules nothing.
package resourcemanagersim

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"sync"
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"koordinator.sh/koord/bridge/hadoop/ipc"
	"koordinator.sh/koord/bridge/yarn"
)

// ResourceManager serves the client, admin and HA services on one address. Its methods may be called at any time.
type ResourceManager struct {
	listener net.Listener
	group    sync.WaitGroup

	mu    sync.Mutex
	nodes map[string]*yarn.Node
	order []string
	// pending is what applications wait for.
	pending yarn.Resource
	standby bool
	changes []Received
	conns   map[net.Conn]bool
	closed  bool
}

// Received is a change of capacity that was received.
type Received struct {
	yarn.Change
	At time.Time
}

// Start listens on an address, such as 127.0.0.1:0, and serves until Close.
func Start(ctx context.Context, address string) (*ResourceManager, error) {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("listen: %w", err)
	}
	rm := &ResourceManager{listener: listener, nodes: map[string]*yarn.Node{}, conns: map[net.Conn]bool{}}
	rm.group.Go(rm.accept)
	return rm, nil
}

// Address is HOST:PORT of all services.
func (rm *ResourceManager) Address() string { return rm.listener.Addr().String() }

// Addresses of the services as a ResourceManager of a cluster.
func (rm *ResourceManager) Addresses(id string) yarn.Addresses {
	return yarn.Addresses{ID: id, Client: rm.Address(), Admin: rm.Address()}
}

// Close ends all connections and returns once nothing is served any more.
func (rm *ResourceManager) Close() {
	rm.mu.Lock()
	rm.closed = true
	_ = rm.listener.Close() // once is enough
	for conn := range rm.conns {
		_ = conn.Close() // the client sees it
	}
	rm.mu.Unlock()
	rm.group.Wait()
}

// SetNode registers a node, or changes what the ResourceManager knows of it.
func (rm *ResourceManager) SetNode(node yarn.Node) {
	rm.mu.Lock()
	defer rm.mu.Unlock()
	key := node.ID.String()
	if rm.nodes[key] == nil {
		rm.order = append(rm.order, key)
	}
	rm.nodes[key] = &node
}

// RemoveNode loses a node.
func (rm *ResourceManager) RemoveNode(key string) {
	rm.mu.Lock()
	defer rm.mu.Unlock()
	delete(rm.nodes, key)
	rm.order = slices.DeleteFunc(rm.order, func(k string) bool { return k == key })
}

// Node is what the ResourceManager knows of a node.
func (rm *ResourceManager) Node(key string) yarn.Node {
	rm.mu.Lock()
	defer rm.mu.Unlock()
	if node := rm.nodes[key]; node != nil {
		return *node
	}
	return yarn.Node{}
}

// Allocate allocates a resource on a node if its capability has room for it.
func (rm *ResourceManager) Allocate(key string, wanted yarn.Resource) bool {
	rm.mu.Lock()
	defer rm.mu.Unlock()
	node := rm.nodes[key]
	if node == nil || node.Used.VCores+wanted.VCores > node.Capability.VCores || node.Used.MiB+wanted.MiB > node.Capability.MiB {
		return false
	}
	node.Used.VCores += wanted.VCores
	node.Used.MiB += wanted.MiB
	node.Containers++
	return true
}

// Release ends a container of a resource on a node.
func (rm *ResourceManager) Release(key string, resource yarn.Resource) {
	rm.mu.Lock()
	defer rm.mu.Unlock()
	if node := rm.nodes[key]; node != nil {
		node.Used.VCores -= resource.VCores
		node.Used.MiB -= resource.MiB
		node.Containers--
	}
}

// SetPending sets what applications wait for.
func (rm *ResourceManager) SetPending(pending yarn.Resource) {
	rm.mu.Lock()
	defer rm.mu.Unlock()
	rm.pending = pending
}

// SetStandby makes it refuse all but the question for its state, or not.
func (rm *ResourceManager) SetStandby(standby bool) {
	rm.mu.Lock()
	defer rm.mu.Unlock()
	rm.standby = standby
}

// Changes are the changes that were received so far.
func (rm *ResourceManager) Changes() []Received {
	rm.mu.Lock()
	defer rm.mu.Unlock()
	return slices.Clone(rm.changes)
}

func (rm *ResourceManager) accept() {
	for {
		conn, err := rm.listener.Accept()
		if err != nil {
			return
		}
		rm.mu.Lock()
		if rm.closed {
			_ = conn.Close() // it came too late
			rm.mu.Unlock()
			return
		}
		rm.conns[conn] = true
		rm.mu.Unlock()
		rm.group.Go(func() {
			rm.serve(conn)
			rm.mu.Lock()
			delete(rm.conns, conn)
			rm.mu.Unlock()
			_ = conn.Close() // nothing is under way
		})
	}
}

// serve answers the calls of one connection until it ends.
func (rm *ResourceManager) serve(conn net.Conn) {
	reader := bufio.NewReader(conn)
	greeting := make([]byte, 7)
	if _, err := io.ReadFull(reader, greeting); err != nil || string(greeting[:4]) != "hrpc" || greeting[4] != 9 {
		return
	}
	for {
		header, rest, err := readCall(reader)
		if err != nil {
			return
		}
		if header < 0 {
			continue // the context of the connection
		}
		method, rest, err := readMethod(rest)
		if err != nil {
			return
		}
		request, n := protowire.ConsumeBytes(rest)
		if n < 0 {
			return
		}
		response, err := rm.answer(method, request)
		if _, err := conn.Write(encodeResponse(header, response, err)); err != nil {
			return
		}
	}
}

// exception is an exception of Java.
type exception struct{ class, message string }

func (e *exception) Error() string { return e.class + ": " + e.message }

// answer does what a method is asked.
func (rm *ResourceManager) answer(method string, request []byte) ([]byte, error) {
	rm.mu.Lock()
	defer rm.mu.Unlock()
	if method == "getServiceStatus" {
		state := uint64(1)
		if rm.standby {
			state = 2
		}
		return protowire.AppendVarint(protowire.AppendTag(nil, 1, protowire.VarintType), state), nil
	}
	if rm.standby {
		return nil, &exception{"org.apache.hadoop.ipc.StandbyException", "ResourceManager is not Active!"}
	}
	switch method {
	case "getClusterNodes":
		return rm.encodeNodes(), nil
	case "getQueueInfo":
		return encodePending(rm.pending), nil
	case "updateNodeResource":
		return nil, rm.update(request)
	}
	return nil, &exception{"org.apache.hadoop.ipc.RpcNoSuchMethodException", "Unknown method " + method}
}

// update applies changes of capacity. A node that is not known refuses all of them.
func (rm *ResourceManager) update(request []byte) error {
	changes, err := parseChanges(request)
	if err != nil {
		return &exception{"org.apache.hadoop.ipc.RpcServerException", err.Error()}
	}
	var unknown []string
	for _, change := range changes {
		if rm.nodes[change.Node.String()] == nil {
			unknown = append(unknown, change.Node.String())
		}
	}
	if len(unknown) > 0 {
		return &exception{"org.apache.hadoop.yarn.exceptions.YarnException",
			"Resource update get failed on all nodes due to change resource on an unrecognized node: " + strings.Join(unknown, ", ")}
	}
	now := time.Now()
	for _, change := range changes {
		rm.changes = append(rm.changes, Received{Change: change, At: now})
	}
	for _, change := range changes {
		rm.nodes[change.Node.String()].Capability = change.Capability
	}
	return nil
}

// readCall reads a frame: the number of the call, and what follows the header.
func readCall(reader *bufio.Reader) (call int64, rest []byte, err error) {
	var prefix [4]byte
	if _, err := io.ReadFull(reader, prefix[:]); err != nil {
		return 0, nil, err
	}
	length := binary.BigEndian.Uint32(prefix[:])
	if length > ipc.MaxFrame {
		return 0, nil, errors.New("the frame is too long")
	}
	frame := make([]byte, length)
	if _, err := io.ReadFull(reader, frame); err != nil {
		return 0, nil, err
	}
	header, n := protowire.ConsumeBytes(frame)
	if n < 0 {
		return 0, nil, protowire.ParseError(n)
	}
	err = ipc.Fields(header, func(number protowire.Number, value ipc.Value) {
		if number == 3 {
			call = protowire.DecodeZigZag(value.Varint)
		}
	})
	return call, frame[n:], err
}

func readMethod(rest []byte) (method string, request []byte, err error) {
	header, n := protowire.ConsumeBytes(rest)
	if n < 0 {
		return "", nil, protowire.ParseError(n)
	}
	err = ipc.Fields(header, func(number protowire.Number, value ipc.Value) {
		if number == 1 {
			method = string(value.Bytes)
		}
	})
	return method, rest[n:], err
}
