package yarn

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"koordinator.sh/koord/bridge/hadoop/ipc"
)

// The Java names of the protocols.
const (
	clientProtocol = "org.apache.hadoop.yarn.api.ApplicationClientProtocolPB"
	adminProtocol  = "org.apache.hadoop.yarn.server.api.ResourceManagerAdministrationProtocolPB"
	haProtocol     = "org.apache.hadoop.ha.HAServiceProtocol"
)

// rootQueue is the queue above all others.
const rootQueue = "root"

// standbyException is what ResourceManagers answer that are not active.
const standbyException = "org.apache.hadoop.ipc.StandbyException"

// Client calls the active ResourceManager of a cluster. It may be used by several goroutines, and must be closed.
type Client struct {
	managers []*resourceManager

	mu     sync.Mutex
	active int
}

// resourceManager has a connection to each service of one ResourceManager.
type resourceManager struct {
	id                string
	client, admin, ha *ipc.Client
}

// NewClient returns a client that connects when it is used. Timeout bounds one call.
func NewClient(cluster Cluster, caller Caller, timeout time.Duration) *Client {
	out := &Client{}
	for _, at := range cluster.ResourceManagers {
		service := func(address, protocol string, token func() (*ipc.Token, error)) *ipc.Client {
			return ipc.NewClient(ipc.Options{Address: address, Protocol: protocol, User: caller.User, Token: token, Timeout: timeout})
		}
		out.managers = append(out.managers, &resourceManager{
			id:     at.ID,
			client: service(at.Client, clientProtocol, caller.Token),
			admin:  service(at.Admin, adminProtocol, nil),
			ha:     service(at.Admin, haProtocol, nil),
		})
	}
	return out
}

// Close ends all connections.
func (c *Client) Close() {
	for _, manager := range c.managers {
		manager.client.Close()
		manager.admin.Close()
		manager.ha.Close()
	}
}

// Nodes reads the NodeManagers that run, and those that are being decommissioned, whose containers run on.
func (c *Client) Nodes(ctx context.Context) ([]Node, error) {
	response, err := c.call(ctx, func(rm *resourceManager) *ipc.Client { return rm.client }, "getClusterNodes",
		getClusterNodesRequest(StateRunning, StateUnhealthy, StateDecommissioning))
	if err != nil {
		return nil, err
	}
	return parseNodes(response)
}

// Update changes what may be allocated on nodes. The ResourceManager applies it some time after it has answered.
func (c *Client) Update(ctx context.Context, changes []Change) error {
	_, err := c.call(ctx, func(rm *resourceManager) *ipc.Client { return rm.admin }, "updateNodeResource", updateNodeResourceRequest(changes))
	return err
}

// Pending is what applications have asked for and not got.
func (c *Client) Pending(ctx context.Context) (Resource, error) {
	response, err := c.call(ctx, func(rm *resourceManager) *ipc.Client { return rm.client }, "getQueueInfo", getQueueInfoRequest(rootQueue))
	if err != nil {
		return Resource{}, err
	}
	return parsePending(response)
}

// call calls the active ResourceManager, and the one that has become it where that one does not answer or is not active any more.
func (c *Client) call(ctx context.Context, service func(*resourceManager) *ipc.Client, method string, request []byte) ([]byte, error) {
	c.mu.Lock()
	active := c.active
	c.mu.Unlock()
	response, err := service(c.managers[active]).Call(ctx, method, request)
	if err == nil || len(c.managers) == 1 || ctx.Err() != nil || isRefusal(err) {
		return response, err
	}
	found, findErr := c.find(ctx)
	if findErr != nil {
		return nil, errors.Join(err, findErr)
	}
	if found == active && !ipc.IsRemote(err, standbyException) {
		return nil, err // it is active, and its connection was lost: the next call tries again
	}
	return service(c.managers[found]).Call(ctx, method, request)
}

// isRefusal says whether the active ResourceManager refused a call, which no other would do otherwise.
func isRefusal(err error) bool {
	_, remote := errors.AsType[*ipc.RemoteError](err)
	return remote && !ipc.IsRemote(err, standbyException)
}

// find finds the active ResourceManager.
func (c *Client) find(ctx context.Context) (int, error) {
	var errs []error
	for i, manager := range c.managers {
		response, err := manager.ha.Call(ctx, "getServiceStatus", nil)
		if err == nil {
			var state uint64
			if state, err = parseHAState(response); err == nil && state == haActive {
				c.mu.Lock()
				c.active = i
				c.mu.Unlock()
				return i, nil
			}
		}
		errs = append(errs, err)
	}
	return 0, fmt.Errorf("find the active ResourceManager of %d: %w", len(c.managers), errors.Join(append(errs, errNoneActive)...))
}

var errNoneActive = errors.New("none says that it is active")
