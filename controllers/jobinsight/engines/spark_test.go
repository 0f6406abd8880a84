package engines

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// historyOf serves n applications that ended a second after one another, and counts requests. The one with a damaged log has no details.
func historyOf(t *testing.T, n, damaged int, requests *[]string) Engine {
	t.Helper()
	var list []string
	for i := n; i > 0; i-- { // the latest first
		list = append(list, fmt.Sprintf(`{"id":"app-%02d","name":"words","attempts":[{"attemptId":"1","completed":true,"startTimeEpoch":1000,"endTimeEpoch":%d}]}`, i, 10_000+1000*i))
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		*requests = append(*requests, r.URL.String())
		answer := "[" + strings.Join(list, ",") + "]"
		switch {
		case strings.HasPrefix(r.URL.Path, fmt.Sprintf("/api/v1/applications/app-%02d/", damaged)):
			http.Error(w, "damaged", http.StatusInternalServerError)
			return
		case strings.HasSuffix(r.URL.Path, "/1/stages"):
			answer = `[{"executorCpuTime":5e9}]`
		case strings.HasSuffix(r.URL.Path, "/1/environment"), strings.HasSuffix(r.URL.Path, "/1/allexecutors"):
			answer = "null"
		}
		_, _ = io.WriteString(w, answer) // the reader would complain
	}))
	t.Cleanup(server.Close)
	read, err := Parse([]string{"spark/history=" + server.URL})
	if err != nil {
		t.Fatal(err)
	}
	return read[0]
}

// TestSparkIsReadInPortions, the oldest applications first, and each is asked about once.
func TestSparkIsReadInPortions(t *testing.T) {
	var requests []string
	spark := historyOf(t, 2*mostDetails+1, 2, &requests)
	since, next := time.Time{}, 1
	for _, want := range []int{mostDetails, mostDetails, 1, 0} {
		requests = nil
		events, err := spark.Read(t.Context(), since)
		if err != nil || len(events) != want {
			t.Fatalf("Read() = %d events, %v; want %d", len(events), err, want)
		}
		for _, event := range events {
			if id := fmt.Sprintf("app-%02d/1", next); event.ID != id || (event.CPUSeconds == 0) != (next == 2) {
				t.Errorf("event %+v, want %s", event, id)
			}
			next++
		}
		if len(requests) != 1+3*want {
			t.Errorf("%d events took %d requests", want, len(requests))
		}
		since = time.UnixMilli(12_500)
	}
	if want := "/api/v1/applications?status=completed&minEndDate=1970-01-01T00%3A00%3A12.500GMT"; requests[0] != want {
		t.Errorf("asked %s, want %s", requests[0], want)
	}
}
