package yarnagent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"regexp"
	"strconv"
	"time"
)

const (
	// nodeManagerTimeout bounds one request, and mostBytes an answer.
	nodeManagerTimeout = 5 * time.Second
	mostBytes          = 64 << 20
	// stateRunning is the state of containers that have processes.
	stateRunning = "RUNNING"
)

// task is a container as the NodeManager describes it.
type task struct {
	ID    string
	State string
	// MiB and VCores that were allocated to it.
	MiB, VCores number
}

// UnmarshalJSON reads a container. The names of the amounts are those of Hadoop's distributions, or of its shaded jars.
func (t *task) UnmarshalJSON(content []byte) error {
	var named struct {
		ID           string `json:"id"`
		State        string `json:"state"`
		MiB          number `json:"totalMemoryNeededMB"`
		VCores       number `json:"totalVCoresNeeded"`
		ShadedMiB    number `json:"memoryNeeded"`
		ShadedVCores number `json:"vcoresNeeded"`
	}
	if err := json.Unmarshal(content, &named); err != nil {
		return err
	}
	*t = task{ID: named.ID, State: named.State, MiB: max(named.MiB, named.ShadedMiB), VCores: max(named.VCores, named.ShadedVCores)}
	return nil
}

// number is an amount in JSON, which some versions of Hadoop quote.
type number int64

// mostNumber keeps amounts computable, in milli-cores and in bytes.
const mostNumber = math.MaxInt64 >> 24

// UnmarshalJSON reads a number within 0 and mostNumber; what is none is 0.
func (n *number) UnmarshalJSON(content []byte) error {
	text := string(content)
	if unquoted, err := strconv.Unquote(text); err == nil {
		text = unquoted
	}
	value, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(value) {
		value = 0
	}
	*n = number(min(max(value, 0), mostNumber))
	return nil
}

// tasks is a list of containers. Hadoop's distributions write it as the only field of an object, and one container alone without the list;
// its shaded jars write the list alone.
type tasks []task

// UnmarshalJSON reads all of these forms.
func (l *tasks) UnmarshalJSON(content []byte) error {
	if len(content) > 0 && content[0] == '[' {
		return json.Unmarshal(content, (*[]task)(l))
	}
	var within struct {
		Container json.RawMessage `json:"container"`
	}
	if err := json.Unmarshal(content, &within); err != nil || len(within.Container) == 0 {
		return err
	}
	if within.Container[0] == '[' {
		return json.Unmarshal(within.Container, (*[]task)(l))
	}
	var one task
	if err := json.Unmarshal(within.Container, &one); err != nil || one.ID == "" {
		return err
	}
	*l = tasks{one}
	return nil
}

// containerID is container_[eEPOCH_]CLUSTERTIMESTAMP_APPLICATION_ATTEMPT_CONTAINER.
var containerID = regexp.MustCompile(`^container_(?:e[0-9]{1,10}_)?([0-9]{1,19}_[0-9]{1,10})_[0-9]{1,10}_([0-9]{1,19})$`)

// application is the ID of the application of a container, and master whether it is the application's master; false for what is no ID.
func application(id string) (name string, master, valid bool) {
	parts := containerID.FindStringSubmatch(id)
	if parts == nil {
		return "", false, false
	}
	const masterNumber = 1
	number, err := strconv.ParseInt(parts[2], 10, 64)
	return "application_" + parts[1], err == nil && number == masterNumber, true
}

// nodeManager is the web service of the NodeManager.
type nodeManager struct {
	url  string
	http *http.Client
}

func newNodeManager(endpoint string) *nodeManager {
	return &nodeManager{url: "http://" + endpoint + "/ws/v1/node/containers", http: &http.Client{
		Timeout:       nodeManagerTimeout,
		Transport:     &http.Transport{DisableKeepAlives: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// running lists the containers that run. Those whose ID is none are left out.
func (m *nodeManager) running(ctx context.Context) ([]task, error) {
	listed, err := m.list(ctx)
	if err != nil {
		return nil, fmt.Errorf("list the NodeManager's containers: %w", err)
	}
	var out []task
	for _, one := range listed {
		if _, _, valid := application(one.ID); valid && one.State == stateRunning {
			out = append(out, one)
		}
	}
	return out, nil
}

func (m *nodeManager) list(ctx context.Context) (tasks, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, m.url, nil)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Accept", "application/json")
	response, err := m.http.Do(request)
	if err != nil {
		return nil, err
	}
	content, err := io.ReadAll(io.LimitReader(response.Body, mostBytes+1))
	if err := errors.Join(err, response.Body.Close()); err != nil {
		return nil, err
	}
	return parseTasks(response.StatusCode, content)
}

// parseTasks reads an answer; a NodeManager without containers has null, or nothing, in their place.
func parseTasks(status int, content []byte) (tasks, error) {
	switch {
	case status != http.StatusOK:
		return nil, fmt.Errorf("it answered %d", status)
	case len(content) > mostBytes:
		return nil, fmt.Errorf("its answer is longer than %d bytes", mostBytes)
	}
	var answer struct {
		Containers tasks `json:"containers"`
	}
	if err := json.Unmarshal(content, &answer); err != nil {
		return nil, fmt.Errorf("read its answer: %w", err)
	}
	return answer.Containers, nil
}
