package diagnostics

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"koordinator.sh/koord/agent/audit"
	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/reviewhttp"
)

// echo answers with the sections that it was asked for.
type echo struct{}

func (echo) Explain(_ context.Context, node string, question *diagnosticsv1alpha1.AgentQuestion) (diagnosticsv1alpha1.AgentExplanation, error) {
	if node != "node-1" {
		return diagnosticsv1alpha1.AgentExplanation{}, UnknownNode(node)
	}
	out := diagnosticsv1alpha1.AgentExplanation{Component: "koordlet"}
	for _, section := range question.Sections {
		out.Incomplete = append(out.Incomplete, string(section))
	}
	return out, nil
}

func serve(t *testing.T, log *audit.Log) *httptest.Server {
	t.Helper()
	registry := prometheus.NewRegistry()
	registry.MustRegister(NewCollector(func() NodeMetrics { return NodeMetrics{Node: "node-1", Started: time.Unix(7, 0)} }))
	server := httptest.NewServer(Secured(Options{Explainer: echo{}, Audit: log, Instance: "first", Metrics: registry}))
	t.Cleanup(server.Close)
	return server
}

// do returns the status code and the body of an answer.
func do(t *testing.T, method, url, contentType, body string) (int, []byte) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", contentType)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	var out strings.Builder
	if _, err := bufio.NewReader(response.Body).WriteTo(&out); err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, []byte(out.String())
}

func TestQuestionsAreChecked(t *testing.T) {
	server := serve(t, audit.NewLog(1))
	tests := map[string]struct {
		method, contentType, body string
		wantCode                  int
		wantText                  string
	}{
		"a question about this node":      {"POST", "application/json", `{"spec":{"nodeName":"node-1","agent":{"sections":["cpus"]}}}`, 200, `"incomplete":["cpus"]`},
		"one that names no section":       {"POST", "application/json", `{"spec":{"nodeName":"node-1"}}`, 200, `"component":"koordlet"`},
		"another node's":                  {"POST", "application/json", `{"spec":{"nodeName":"node-2"}}`, 404, `nodes \"node-2\" not found`},
		"no node":                         {"POST", "application/json", `{}`, 400, "spec.nodeName is empty"},
		"no JSON":                         {"POST", "application/json", `{`, 400, "decode the request"},
		"another type":                    {"POST", "text/plain", `{}`, 415, "must be application/json"},
		"no type":                         {"POST", "", `{}`, 400, "spec.nodeName is empty"},
		"a question that is read":         {"GET", "application/json", ``, 405, "MethodNotAllowed"},
		"one that is too large to decode": {"POST", "application/json", `{"spec":{"nodeName":"` + strings.Repeat("n", reviewhttp.MaxBody) + `"}}`, 413, "limit is"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			code, body := do(t, tc.method, server.URL+ExplainPath, tc.contentType, tc.body)
			if code != tc.wantCode || !strings.Contains(string(body), tc.wantText) {
				t.Errorf("status %d: %s; want %d with %q", code, body, tc.wantCode, tc.wantText)
			}
			if code >= 400 {
				var status metav1.Status
				if err := json.Unmarshal(body, &status); err != nil || status.Kind != "Status" {
					t.Errorf("an error that is no Status: %s", body)
				}
			}
		})
	}
}

func TestAuditIsPagedBackwards(t *testing.T) {
	log := audit.NewLog(5)
	for range 7 {
		log.Add(audit.Entry{Owner: "BECPUSuppress"})
	}
	server := serve(t, log)
	var got [][]int64
	token := ""
	for {
		code, body := do(t, "GET", server.URL+AuditPath+"?size=2&pageToken="+token, "", "")
		var page auditAnswer
		if err := json.Unmarshal(body, &page); code != 200 || err != nil {
			t.Fatalf("status %d, %v: %s", code, err, body)
		}
		var numbers []int64
		for _, entry := range page.Entries {
			numbers = append(numbers, entry.Number)
		}
		got = append(got, numbers)
		if token = page.NextPageToken; token == "" {
			break
		}
	}
	if diff := cmp.Diff([][]int64{{7, 6}, {5, 4}, {3}}, got); diff != "" {
		t.Errorf("unexpected pages (-want +got):\n%s", diff)
	}
	tests := map[string]struct {
		query    string
		wantCode int
	}{
		"the largest page":                {"size=2048", 200},
		"too large a page":                {"size=2049", 400},
		"an empty page":                   {"size=0", 400},
		"no number":                       {"size=x", 400},
		"a token of nobody":               {"pageToken=x", 409},
		"a token of an earlier agent":     {"pageToken=other.5", 409},
		"a token of what was pushed out":  {"pageToken=first.2", 409},
		"a token of what has not come":    {"pageToken=first.8", 409},
		"a token of nothing":              {"pageToken=first.0", 409},
		"the last token that still holds": {"pageToken=first.3", 200},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if code, body := do(t, "GET", server.URL+AuditPath+"?"+tc.query, "", ""); code != tc.wantCode {
				t.Errorf("status %d: %s, want %d", code, body, tc.wantCode)
			}
		})
	}
}

func TestAuditIsFollowed(t *testing.T) {
	log := audit.NewLog(10)
	log.Add(audit.Entry{Object: "before"})
	server := serve(t, log)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, server.URL+AuditPath+"?follow=true", nil)
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	lines := bufio.NewScanner(response.Body)
	for i, want := range []string{"before", "first", "second"} {
		if i > 0 {
			log.Add(audit.Entry{Object: want})
		}
		if !lines.Scan() {
			t.Fatalf("the stream ended before %q: %v", want, lines.Err())
		}
		var entry diagnosticsv1alpha1.AuditEntry
		if err := json.Unmarshal(lines.Bytes(), &entry); err != nil || entry.Object != want {
			t.Errorf("%v, %s; want %q", err, lines.Bytes(), want)
		}
	}
}

func TestAPageFollowsTheOneBefore(t *testing.T) {
	log := audit.NewLog(4)
	for range 10 {
		log.Add(audit.Entry{})
	}
	after := func(n int64) *diagnosticsv1alpha1.AuditQuestion {
		return &diagnosticsv1alpha1.AuditQuestion{After: &n, Instance: "this"}
	}
	size := func(n int32) *diagnosticsv1alpha1.AuditQuestion { return &diagnosticsv1alpha1.AuditQuestion{Size: &n} }
	earlier := after(9)
	earlier.Instance = "earlier"
	type page struct{ First, Last, Missed, Count int64 }
	tests := map[string]struct {
		question *diagnosticsv1alpha1.AuditQuestion
		want     page
	}{
		"the latest":                           {size(2), page{9, 10, 0, 2}},
		"all that are kept":                    {nil, page{7, 10, 0, 4}},
		"what came since":                      {after(8), page{9, 10, 0, 2}},
		"nothing came since":                   {after(10), page{0, 10, 0, 0}},
		"some were pushed out":                 {after(3), page{7, 10, 3, 4}},
		"numbers of an earlier agent":          {earlier, page{7, 10, 6, 4}},
		"more than there ever was":             {after(99), page{0, 10, 0, 0}},
		"a number below all that are possible": {after(-5), page{7, 10, 6, 4}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got := AuditPage(log, "this", tc.question)
			shown := page{Last: got.Last, Missed: got.Missed, Count: int64(len(got.Entries))}
			if len(got.Entries) > 0 {
				shown.First = got.Entries[0].Number
			}
			if diff := cmp.Diff(tc.want, shown); diff != "" {
				t.Errorf("unexpected page (-want +got):\n%s", diff)
			}
		})
	}
}

func TestHealth(t *testing.T) {
	ready := errors.New("the node's objects have not been read yet")
	server := httptest.NewServer(Open(Options{Ready: []Check{{"objects", func() error { return ready }}, {"enforcement", func() error { return nil }}}}))
	t.Cleanup(server.Close)
	if code, body := do(t, "GET", server.URL+"/readyz", "", ""); code != 503 || !strings.Contains(string(body), "have not been read") {
		t.Errorf("ready: %d %s", code, body)
	}
	if _, body := do(t, "GET", server.URL+"/readyz", "", ""); !strings.HasPrefix(string(body), "[-]objects failed: ") || !strings.Contains(string(body), "[+]enforcement ok\n") {
		t.Errorf("not ready: %s", body)
	}
	ready = nil
	if code, body := do(t, "GET", server.URL+"/readyz?verbose", "", ""); code != 200 || string(body) != "[+]objects ok\n[+]enforcement ok\nreadyz check passed\n" {
		t.Errorf("verbose: %d %s", code, body)
	}
	for _, path := range []string{"/healthz", "/livez", "/readyz"} {
		if code, body := do(t, "GET", server.URL+path, "", ""); code != 200 || string(body) != "ok" {
			t.Errorf("%s: %d %s", path, code, body)
		}
	}
	if code, _ := do(t, "GET", server.URL+"/metrics", "", ""); code != 404 {
		t.Errorf("what is open to everybody has metrics: %d", code)
	}
}

func TestMetricsAreServed(t *testing.T) {
	_, body := do(t, "GET", serve(t, audit.NewLog(1)).URL+MetricsPath, "", "")
	if !strings.Contains(string(body), `koordlet_start_time{node="node-1"} 7`) {
		t.Errorf("metrics lack the start time:\n%s", body)
	}
}

// slow answers when it is let go.
type slow struct{ release chan struct{} }

func (s slow) Explain(ctx context.Context, _ string, _ *diagnosticsv1alpha1.AgentQuestion) (diagnosticsv1alpha1.AgentExplanation, error) {
	select {
	case <-s.release:
	case <-ctx.Done():
	}
	return diagnosticsv1alpha1.AgentExplanation{}, ctx.Err()
}

func TestQuestionsWaitForTheirTurnAndNotForEver(t *testing.T) {
	release := make(chan struct{})
	server := httptest.NewServer(Secured(Options{Explainer: slow{release}, Audit: audit.NewLog(1)}))
	t.Cleanup(server.Close)
	const asked = maxAnswering + maxWaiting + 3
	codes := make(chan int, asked)
	for range asked {
		go func() {
			response, err := http.Post(server.URL+ExplainPath, "application/json", strings.NewReader(`{"spec":{"nodeName":"n"}}`))
			if err != nil {
				codes <- 0
				return
			}
			response.Body.Close()
			codes <- response.StatusCode
		}()
	}
	for range 3 {
		if code := <-codes; code != http.StatusTooManyRequests {
			t.Errorf("status %d of one that is too many", code)
		}
	}
	close(release)
	for range asked - 3 {
		if code := <-codes; code != http.StatusOK {
			t.Errorf("status %d of one that waited", code)
		}
	}
}

// TestOneMetricThatCannotBeToldIsNotAll has two groups of one name, and one whose name is no text.
func TestOneMetricThatCannotBeToldIsNotAll(t *testing.T) {
	registry := prometheus.NewRegistry()
	registry.MustRegister(NewCollector(func() NodeMetrics {
		return NodeMetrics{Node: "node-1", Started: time.Unix(7, 0), Features: []Sample{
			{Metric: "resctrl_llc_occupancy", Labels: []string{"root"}}, {Metric: "resctrl_llc_occupancy", Labels: []string{"root"}}, {Metric: "resctrl_llc_occupancy", Labels: []string{"\xff"}},
		}}
	}, Metric{Name: "resctrl_llc_occupancy", Help: "Bytes.", Labels: []string{"node", "group"}}))
	server := httptest.NewServer(Secured(Options{Explainer: echo{}, Metrics: registry}))
	t.Cleanup(server.Close)
	code, body := do(t, "GET", server.URL+MetricsPath, "", "")
	for _, want := range []string{`koordlet_start_time{node="node-1"} 7`, `group="root"`, "group=\"\uFFFD\""} {
		if code != 200 || !strings.Contains(string(body), want) {
			t.Errorf("status %d, without %s:\n%s", code, want, body)
		}
	}
}
