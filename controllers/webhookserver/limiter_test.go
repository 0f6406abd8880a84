package webhookserver

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestTheLimiterCountsWhatIsInFlight(t *testing.T) {
	type ask struct {
		source string
		weight int64
		// gives is true for one that is answered.
		gives bool
		want  bool
	}
	tests := map[string][]ask{
		"one source has its part":                     {{source: "a", weight: 5, want: true}, {source: "a", weight: 1}},
		"another source has the rest":                 {{source: "a", weight: 5, want: true}, {source: "b", weight: 5, want: true}, {source: "c", weight: 1}},
		"what was answered makes room":                {{source: "a", weight: 5, want: true}, {source: "a", weight: 5, gives: true}, {source: "a", weight: 5, want: true}},
		"more than everything is never taken":         {{source: "a", weight: 11}},
		"more than the part of a source is not taken": {{source: "a", weight: 6}, {source: "a", weight: 5, want: true}},
	}
	for name, asks := range tests {
		t.Run(name, func(t *testing.T) {
			l := newLimiter(10, 5)
			for i, a := range asks {
				if a.gives {
					l.give(a.source, a.weight)
				} else if got := l.take(a.source, a.weight); got != a.want {
					t.Errorf("request %d for %d from %s: taken %t, want %t", i, a.weight, a.source, got, a.want)
				}
			}
		})
	}
}

// TestReviewsAreBounded asks a server over HTTP/2, as the API server does.
func TestReviewsAreBounded(t *testing.T) {
	entered, leave := make(chan struct{}, 8), make(chan struct{})
	hook := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		if string(body) == "wait" {
			entered <- struct{}{}
			<-leave
		}
		fmt.Fprint(w, len(body))
	})
	l := newLimiter(2*minWeight, minWeight)
	server := httptest.NewUnstartedServer(l.bound(hook))
	server.EnableHTTP2 = true
	server.StartTLS()
	defer server.Close()
	post := func(body io.Reader) string {
		response, err := server.Client().Post(server.URL, "application/json", body)
		if err != nil {
			return err.Error()
		}
		defer response.Body.Close()
		text, _ := io.ReadAll(response.Body)
		return fmt.Sprintf("%d %s", response.StatusCode, strings.TrimSpace(string(text)))
	}
	got := map[string]string{"a small one": post(strings.NewReader("small")), "one that is too large": post(bytes.NewReader(make([]byte, maxBody+1)))}
	done := make(chan string)
	go func() { done <- post(strings.NewReader("wait")) }()
	<-entered
	got["one more than the source has room for"] = post(strings.NewReader("small"))
	close(leave)
	got["the one before"] = <-done
	got["one of unknown length"] = post(io.NopCloser(io.MultiReader(strings.NewReader("small"))))
	want := map[string]string{
		"a small one":                           "200 5",
		"one that is too large":                 "413 Request Entity Too Large",
		"one more than the source has room for": "429 Too Many Requests",
		"the one before":                        "200 4",
		"one of unknown length":                 "429 Too Many Requests",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("answers (-want +got):\n%s", diff)
	}
	if l.inFlight != 0 || len(l.sources) != 0 {
		t.Errorf("%d bytes of %d sources count as in flight, want none", l.inFlight, len(l.sources))
	}
}
