package trino

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// answers serves answers by their path, each in turn; {URL} in them is the URL of the server.
func answers(t *testing.T, byPath map[string]string) server {
	t.Helper()
	var url string
	test := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answer, known := byPath[r.Method+" "+r.URL.Path]
		switch {
		case r.Header.Get("X-Trino-User") != user:
			w.WriteHeader(http.StatusUnauthorized)
		case !known:
			w.WriteHeader(http.StatusNotFound)
		default:
			fmt.Fprint(w, strings.ReplaceAll(answer, "{URL}", url))
		}
	}))
	t.Cleanup(test.Close)
	url = test.URL
	return server{url: url}
}

func TestAQueryIsFollowedToItsEnd(t *testing.T) {
	s := answers(t, map[string]string{
		"POST /v1/statement": `{"id": "q1", "nextUri": "{URL}/1", "stats": {"state": "QUEUED"}}`,
		"GET /1":             `{"id": "q1", "nextUri": "{URL}/2", "data": [["ASIA", 12]], "stats": {"processedRows": 100}}`,
		"GET /2":             `{"id": "q1", "data": [["EUROPE", null]], "stats": {"processedRows": 250}}`,
	})
	var told []progress
	got, err := s.query(t.Context(), "SELECT 1", func(p progress) { told = append(told, p) })
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff("\"ASIA\",\"12\"\n\"EUROPE\",\"null\"\n", got); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]progress{{"q1", 0}, {"q1", 100}, {"q1", 250}}, told); diff != "" {
		t.Errorf("progress (-want +got):\n%s", diff)
	}
}

func TestAQueryThatFailsSaysWhy(t *testing.T) {
	tests := map[string]struct {
		answers map[string]string
		want    string
	}{
		"a lost worker": {
			map[string]string{"POST /v1/statement": `{"id": "q1", "error": {"message": "node is gone", "errorName": "REMOTE_HOST_GONE"}}`},
			"query q1: REMOTE_HOST_GONE: node is gone",
		},
		"no Trino":       {nil, "404 Not Found"},
		"something else": {map[string]string{"POST /v1/statement": `<html>`}, "decode the answer"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := answers(t, tc.answers).query(t.Context(), "SELECT 1", func(progress) {})
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("error = %v; want %q", err, tc.want)
			}
		})
	}
}

func TestTasksThatRunAreCounted(t *testing.T) {
	s := answers(t, map[string]string{"GET /v1/query/q1": `{"outputStage": {
		"tasks": [{"taskStatus": {"state": "RUNNING", "nodeId": "a"}}],
		"subStages": [{"tasks": [{"taskStatus": {"state": "RUNNING", "nodeId": "a"}}, {"taskStatus": {"state": "FINISHED", "nodeId": "b"}}],
			"subStages": [{"tasks": [{"taskStatus": {"state": "RUNNING", "nodeId": "c"}}]}]}]}}`})
	got, err := s.tasks(t.Context(), "q1")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]int{"a": 2, "c": 1}, got); diff != "" {
		t.Errorf("tasks (-want +got):\n%s", diff)
	}
}

func TestAServerStartsAndShutsDown(t *testing.T) {
	s := answers(t, map[string]string{"GET /v1/info": `{"starting": true}`, "GET /v1/info/state": `"SHUTTING_DOWN"`})
	if err := s.started(t.Context()); err == nil {
		t.Error("a server that is starting is taken for one that has started")
	}
	if state, err := s.state(t.Context()); err != nil || state != "SHUTTING_DOWN" {
		t.Errorf("state = %q, %v; want SHUTTING_DOWN", state, err)
	}
	if err := answers(t, map[string]string{"GET /v1/info": `{"starting": false}`}).started(context.WithoutCancel(t.Context())); err != nil {
		t.Errorf("started = %v; want that it has", err)
	}
}
