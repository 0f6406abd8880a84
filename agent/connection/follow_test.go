package connection

import (
	"context"
	"errors"
	"io"
	"net/http"
	"path"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/cache"

	"koordinator.sh/koord/agent/connection/connectiontest"
)

// followers is how many agents with whole informers there are.
const followers = 500

var pods = schema.GroupResource{Resource: "pods"}

// door stands before an API server, and may answer in its place.
type door struct {
	*connectiontest.Server
	mu sync.Mutex
	// rule answers a request that it does not leave to the server, by returning something.
	rule func(*http.Request) (*http.Response, error)
	// lists and watches are when those were asked for, also in vain.
	lists, watches []time.Time
}

// RoundTrip implements http.RoundTripper.
func (d *door) RoundTrip(r *http.Request) (*http.Response, error) {
	d.mu.Lock()
	rule := d.rule
	if path.Base(r.URL.Path) == pods.Resource {
		if isWatch(r) {
			d.watches = append(d.watches, time.Now())
		} else {
			d.lists = append(d.lists, time.Now())
		}
	}
	d.mu.Unlock()
	if rule != nil {
		if response, err := rule(r); response != nil || err != nil {
			return response, err
		}
	}
	return d.Server.RoundTrip(r)
}

// isWatch is false for a watch that begins with all objects, which is a list.
func isWatch(r *http.Request) bool {
	query := r.URL.Query()
	return query.Get("watch") != "" && query.Get("sendInitialEvents") != "true"
}

// clients of one agent, which come through the door.
func (d *door) clients(t *testing.T) *Clients {
	t.Helper()
	config := d.Config()
	config.Transport = d
	clients, err := New(config, "test", 1000)
	if err != nil {
		t.Fatal(err)
	}
	return clients
}

// set a rule; nil for none. What was asked for before is forgotten.
func (d *door) set(rule func(*http.Request) (*http.Response, error)) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.rule, d.lists, d.watches = rule, nil, nil
}

// asked is when lists and watches were asked for since the rule was set.
func (d *door) asked() (lists, watches []time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.lists), slices.Clone(d.watches)
}

// answer of a status, with what else its header has.
func answer(r *http.Request, status int, body string, header ...string) *http.Response {
	response := &http.Response{
		StatusCode: status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Request: r, ContentLength: int64(len(body)),
		Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(strings.NewReader(body)),
	}
	for i := 0; i < len(header); i += 2 {
		response.Header.Set(header[i], header[i+1])
	}
	return response
}

// crowd is agents that follow the pods of one API server.
type crowd struct {
	*testing.T
	*door
	stores []cache.Store
}

// withCrowd runs a test with agents that know what there is.
func withCrowd(t *testing.T, size int, test func(*crowd)) {
	synctest.Test(t, func(t *testing.T) {
		c := &crowd{T: t, door: &door{Server: connectiontest.New()}}
		c.put("before")
		ctx, cancel := context.WithCancel(t.Context())
		var group sync.WaitGroup
		for range size {
			informer := cache.NewSharedIndexInformer(Follow(c.clients(t).Core.CoreV1().RESTClient(), pods.Resource, ""), &corev1.Pod{}, 0, cache.Indexers{})
			c.stores = append(c.stores, informer.GetStore())
			group.Go(func() { informer.RunWithContext(ctx) })
		}
		c.after(time.Minute)
		c.wantKnown("before")
		if lists, _ := c.asked(); len(lists) != size {
			t.Errorf("%d agents asked for %d lists to begin with", size, len(lists))
		}
		test(c)
		cancel()
		group.Wait()
	})
}

func (c *crowd) put(name string) {
	c.Helper()
	if err := c.Put(pods.Resource, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name}}); err != nil {
		c.Fatal(err)
	}
}

func (c *crowd) after(d time.Duration) {
	time.Sleep(d) // the bubble's time
	synctest.Wait()
}

// restart breaks all connections; who comes back meets a rule.
func (c *crowd) restart(rule func(*http.Request) (*http.Response, error)) {
	c.set(rule)
	c.Away(true)
	synctest.Wait()
	c.Away(false)
}

// wantKnown checks that all agents know a pod.
func (c *crowd) wantKnown(name string) {
	c.Helper()
	for _, store := range c.stores {
		if _, known, err := store.GetByKey(name); !known || err != nil {
			c.Fatalf("an agent does not know pod %q: %v", name, err)
		}
	}
}

// TestAgentsGoOnWhereTheyWere: when connections cannot be made, or are closed before there is an answer, nothing is listed again, also
// not after an hour.
func TestAgentsGoOnWhereTheyWere(t *testing.T) {
	for name, failure := range map[string]error{
		"nobody listens": syscall.ECONNREFUSED, "a load balancer closes the connection": io.EOF, "resets": syscall.ECONNRESET,
	} {
		t.Run(name, func(t *testing.T) {
			withCrowd(t, 20, func(c *crowd) {
				c.restart(func(*http.Request) (*http.Response, error) { return nil, failure })
				c.put("meanwhile")
				c.after(time.Hour)
				_, vain := c.asked()
				c.set(nil)
				c.after(lastPatience * 5 / 4)
				c.wantKnown("meanwhile")
				if lists, watches := c.asked(); len(lists) > 0 || len(watches) != len(c.stores) {
					t.Errorf("%d agents asked for %d lists and %d watches, want none and one each", len(c.stores), len(lists), len(watches))
				}
				if each := len(vain) / len(c.stores); each < 600 || each > 1000 {
					t.Errorf("an agent asked %d times within the hour, want one in 4.5 to 6 seconds", each)
				}
			})
		})
	}
}

// TestAVersionThatWasForgottenIsListedOnce: an API server that was started again says of each watch that its version is too old, in
// either way that there is. Each agent lists once, and they do not come together.
func TestAVersionThatWasForgottenIsListedOnce(t *testing.T) {
	const status = `{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"too old resource version","reason":"Expired","code":410}`
	for name, gone := range map[string]func(*http.Request) *http.Response{
		"by an event": func(r *http.Request) *http.Response {
			return answer(r, http.StatusOK, `{"type":"ERROR","object":`+status+"}\n")
		},
		"by an answer": func(r *http.Request) *http.Response { return answer(r, http.StatusGone, status) },
	} {
		t.Run(name, func(t *testing.T) {
			withCrowd(t, followers, func(c *crowd) {
				c.put("latest")
				begun := time.Now()
				c.restart(func(r *http.Request) (*http.Response, error) {
					switch version := r.URL.Query().Get("resourceVersion"); {
					case time.Since(begun) < 30*time.Second:
						return nil, syscall.ECONNREFUSED
					case isWatch(r) && version != "3":
						return gone(r), nil
					}
					return nil, nil
				})
				c.put("meanwhile") // the third version
				c.after(29 * time.Second)
				if lists, _ := c.asked(); len(lists) > 0 {
					t.Errorf("%d lists while the API server is away, want none", len(lists))
				}
				c.after(11 * time.Second) // 10 seconds after it is back
				c.wantKnown("meanwhile")
				lists, _ := c.asked()
				if len(lists) != followers {
					t.Errorf("%d agents asked for %d lists, want one each", followers, len(lists))
				}
				if got := fullest(since(begun, lists)); got > followers*15/100 {
					t.Errorf("%d agents listed within a quarter of a second, want them spread", got)
				}
				c.put("later")
				c.after(time.Second)
				c.wantKnown("later")
			})
		})
	}
}

func since(begun time.Time, times []time.Time) []time.Duration {
	var out []time.Duration
	for _, at := range times {
		out = append(out, at.Sub(begun))
	}
	slices.Sort(out)
	return out
}

// TestAnAPIServerThatIsBusyIsLeftAlone for as long as it asks for, by all, and they do not come back together. What is refused is not
// listed.
func TestAnAPIServerThatIsBusyIsLeftAlone(t *testing.T) {
	withCrowd(t, followers, func(c *crowd) {
		begun := time.Now()
		c.restart(func(r *http.Request) (*http.Response, error) {
			switch {
			case time.Since(begun) < 2*time.Second: // while they come back
				return nil, syscall.ECONNREFUSED
			case time.Since(begun) < 12*time.Second:
				return answer(r, http.StatusTooManyRequests, "Too many requests, please try again later.", "Retry-After", "20", "Content-Type", "text/plain"), nil
			}
			return nil, nil
		})
		c.put("meanwhile")
		c.after(12 * time.Second)
		_, before := c.asked()
		c.after(28 * time.Second)
		c.wantKnown("meanwhile")
		lists, watches := c.asked()
		if len(lists) > 0 || len(watches) != len(before)+followers {
			t.Errorf("%d lists and %d watches after they were told to wait, want none and one each", len(lists), len(watches)-len(before))
		}
		arrivals := since(begun, watches[len(before):])
		if first := arrivals[0]; first < 22*time.Second {
			t.Errorf("the first agent came back after %s, want at least the 20s that were asked for", first)
		}
		if got := fullest(arrivals); got > followers*15/100 {
			t.Errorf("%d agents came back within a quarter of a second, want them spread", got)
		}
	})
}

// TestAResourceThatIsNotServedIsAwaited, with more and more patience, and by agents that do not come together.
func TestAResourceThatIsNotServedIsAwaited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &door{Server: connectiontest.New()}
		var mu sync.Mutex
		asked := 0
		d.set(func(*http.Request) (*http.Response, error) {
			mu.Lock()
			defer mu.Unlock()
			asked++
			return nil, syscall.ECONNREFUSED
		})
		var group sync.WaitGroup
		var arrivals []time.Duration
		back := time.Now().Add(5 * time.Minute)
		for range followers {
			clients := d.clients(t)
			group.Go(func() {
				if err := clients.Await(t.Context(), NodeSLOs); err != nil {
					t.Error(err)
				}
				mu.Lock()
				defer mu.Unlock()
				arrivals = append(arrivals, time.Since(back))
			})
		}
		time.Sleep(time.Until(back))
		mu.Lock()
		each := asked / followers
		mu.Unlock()
		if each > 80 {
			t.Errorf("an agent asked %d times within five minutes, want one in 4.5 to 6 seconds", each)
		}
		d.set(nil)
		group.Wait()
		slices.Sort(arrivals)
		if last := arrivals[followers-1]; last > lastPatience*5/4 || fullest(arrivals) > followers*15/100 {
			t.Errorf("the last agent came after %s, and %d within a quarter of a second", last, fullest(arrivals))
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if err := d.clients(t).Await(ctx, schema.GroupVersionResource{Group: "slo.koordinator.sh", Version: "v1alpha1", Resource: "nobody"}); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a resource that nobody serves: %v, want the end of the time", err)
		}
	})
}
