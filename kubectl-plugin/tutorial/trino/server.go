package trino

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// user that queries run as.
const user = "tutorial"

// server is the HTTP API of Trino at a URL.
type server struct{ url string }

// client answers within the time that Trino takes for one page of results, which is a second where it is not busy.
var client = &http.Client{Timeout: time.Minute}

// progress is how far a query is.
type progress struct {
	// ID of the query.
	ID string
	// Rows that were read.
	Rows int64
}

// page is an answer of the protocol of Trino's clients.
type page struct {
	ID      string              `json:"id"`
	NextURI string              `json:"nextUri"`
	Data    [][]json.RawMessage `json:"data"`
	Stats   struct {
		ProcessedRows int64 `json:"processedRows"`
	} `json:"stats"`
	Error *struct {
		Message string `json:"message"`
		Name    string `json:"errorName"`
	} `json:"error"`
}

// query runs a query, tells how far it is, and returns its rows as Trino's command line prints them.
func (s server) query(ctx context.Context, sql string, tell func(progress)) (string, error) {
	var rows strings.Builder
	next := page{NextURI: s.url + "/v1/statement"}
	method, body := http.MethodPost, sql
	for next.NextURI != "" {
		uri := next.NextURI
		next = page{}
		if err := send(ctx, method, uri, body, &next); err != nil {
			return "", err
		}
		tell(progress{ID: next.ID, Rows: next.Stats.ProcessedRows})
		if next.Error != nil {
			return "", fmt.Errorf("query %s: %s: %s", next.ID, next.Error.Name, next.Error.Message)
		}
		for _, row := range next.Data {
			writeRow(&rows, row)
		}
		method, body = http.MethodGet, ""
	}
	return rows.String(), nil
}

// writeRow writes the values in quotation marks, separated by commas.
func writeRow(b *strings.Builder, row []json.RawMessage) {
	for i, value := range row {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(b, `"%s"`, strings.Trim(string(value), `"`))
	}
	b.WriteByte('\n')
}

// started returns an error until the server answers queries.
func (s server) started(ctx context.Context) error {
	var info struct {
		Starting bool `json:"starting"`
	}
	if err := send(ctx, http.MethodGet, s.url+"/v1/info", "", &info); err != nil {
		return err
	}
	if info.Starting {
		return errors.New("it is starting")
	}
	return nil
}

// state of a server, such as ACTIVE.
func (s server) state(ctx context.Context) (state string, err error) {
	return state, send(ctx, http.MethodGet, s.url+"/v1/info/state", "", &state)
}

// stage of a query.
type stage struct {
	Tasks []struct {
		Status struct {
			State string `json:"state"`
			Node  string `json:"nodeId"`
		} `json:"taskStatus"`
	} `json:"tasks"`
	SubStages []stage `json:"subStages"`
}

// tasks counts the tasks of a query that run, by the worker on which they do.
func (s server) tasks(ctx context.Context, id string) (map[string]int, error) {
	var query struct {
		OutputStage stage `json:"outputStage"`
	}
	if err := send(ctx, http.MethodGet, s.url+"/v1/query/"+id, "", &query); err != nil {
		return nil, err
	}
	running := map[string]int{}
	query.OutputStage.count(running)
	return running, nil
}

func (s stage) count(running map[string]int) {
	for _, task := range s.Tasks {
		if task.Status.State == "RUNNING" {
			running[task.Status.Node]++
		}
	}
	for _, sub := range s.SubStages {
		sub.count(running)
	}
}

func send(ctx context.Context, method, uri, body string, into any) error {
	request, err := http.NewRequestWithContext(ctx, method, uri, strings.NewReader(body))
	if err != nil {
		return err
	}
	request.Header.Set("X-Trino-User", user)
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }() // it was only read
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("%s %s: %s", method, uri, response.Status)
	}
	if err := json.NewDecoder(response.Body).Decode(into); err != nil {
		return fmt.Errorf("%s %s: decode the answer: %w", method, uri, err)
	}
	return nil
}
