package yarn

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"time"
)

// client answers late where the node is held back for services.
var client = &http.Client{Timeout: 20 * time.Second}

// nodeReport is what the ResourceManager's REST API says of a node.
type nodeReport struct {
	State      string `json:"state"`
	Containers int    `json:"numContainers"`
	UsedVCores int64  `json:"usedVirtualCores"`
	FreeVCores int64  `json:"availableVirtualCores"`
	UsedMB     int64  `json:"usedMemoryMB"`
	FreeMB     int64  `json:"availMemoryMB"`
}

// vcores that containers may use; what they use beyond a capacity that shrank makes the rest negative.
func (r nodeReport) vcores() int64 { return r.UsedVCores + r.FreeVCores }

// application is what it says of an application.
type application struct {
	ID          string `json:"id"`
	State       string `json:"state"`
	FinalStatus string `json:"finalStatus"`
	Diagnostics string `json:"diagnostics"`
	// RPC is HOST:PORT of the application master.
	RPC string `json:"amRPCAddress"`
}

// resourceManager is its REST API at a URL.
type resourceManager string

// node is the only one.
func (r resourceManager) node(ctx context.Context) (nodeReport, error) {
	var answer struct {
		Nodes struct {
			Node []nodeReport `json:"node"`
		} `json:"nodes"`
	}
	if err := get(ctx, string(r)+"/ws/v1/cluster/nodes", &answer); err != nil {
		return nodeReport{}, err
	}
	if n := len(answer.Nodes.Node); n != 1 {
		return nodeReport{}, fmt.Errorf("the ResourceManager knows %d nodes, want one", n)
	}
	return answer.Nodes.Node[0], nil
}

func (r resourceManager) application(ctx context.Context, id string) (application, error) {
	var answer struct {
		App application `json:"app"`
	}
	err := get(ctx, string(r)+"/ws/v1/cluster/apps/"+id, &answer)
	return answer.App, err
}

// get decodes what a URL answers.
func get(ctx context.Context, url string, into any) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return err
	}
	request.Header.Set("Accept", "application/json")
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }() // it was read
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("GET %s: %s", url, response.Status)
	}
	if err := json.NewDecoder(io.LimitReader(response.Body, 1<<20)).Decode(into); err != nil {
		return fmt.Errorf("GET %s: decode the answer: %w", url, err)
	}
	return nil
}
