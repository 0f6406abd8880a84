package services

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"k8s.io/klog/v2"
)

const (
	// maxWaiting bounds the requests that are being answered: an answer about all nodes takes memory.
	maxWaiting = 8
	// answerTimeout bounds one answer.
	answerTimeout = 30 * time.Second
)

// Options of a handler.
type Options struct {
	// Providers in order: of two with one name, the first counts.
	Providers []Provider
	// Leads is false while another process schedules. What this one knows is then not what decides.
	Leads func() bool
	// Ready is false while the scheduler's caches are still being filled.
	Ready func() bool
	// Nodes returns the nodes at this moment.
	Nodes func(ctx context.Context) (Nodes, error)
}

// handler serves what is below Base.
type handler struct {
	Options
	slots chan struct{}
}

// NewHandler serves the endpoints of all providers, what the scheduler's cache knows of a node, and the list of all paths.
func NewHandler(options Options) http.Handler {
	h := &handler{Options: options, slots: make(chan struct{}, maxWaiting)}
	mux := http.NewServeMux()
	var paths []string
	handle := func(path string, answer func(context.Context, Call) (any, error)) {
		paths = append(paths, strings.NewReplacer("{", ":", "}", "").Replace(path))
		mux.Handle("GET "+path, h.endpoint(answer))
	}
	seen := map[string]bool{}
	for _, provider := range options.Providers {
		if seen[provider.Name()] {
			continue
		}
		seen[provider.Name()] = true
		for _, endpoint := range provider.Endpoints() {
			handle(Base+"plugins/"+provider.Name()+"/"+endpoint.Path, endpoint.Answer)
		}
	}
	handle(Base+"nodes/{nodeName}", nodeAnswer)
	list := Base + "__services__"
	paths = append(paths, list)
	slices.Sort(paths)
	mux.Handle("GET "+list, h.endpoint(func(context.Context, Call) (any, error) { return map[string][]string{http.MethodGet: paths}, nil }))
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			w.Header().Set("Allow", http.MethodGet)
			writeFailure(w, r, &failure{status: http.StatusMethodNotAllowed, message: "these paths can only be read"})
			return
		}
		writeFailure(w, r, NotFound("unknown path; %s lists those that are served", list))
	})
	return mux
}

func (h *handler) endpoint(answer func(context.Context, Call) (any, error)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		select {
		case h.slots <- struct{}{}:
			defer func() { <-h.slots }()
		default:
			w.Header().Set("Retry-After", "1")
			writeFailure(w, r, &failure{status: http.StatusTooManyRequests, message: "too many requests at once"})
			return
		}
		result, err := h.answer(r, answer)
		if err != nil {
			writeFailure(w, r, err)
			return
		}
		write(w, r, http.StatusOK, result)
	})
}

func (h *handler) answer(r *http.Request, answer func(context.Context, Call) (any, error)) (any, error) {
	if !h.Leads() {
		return nil, Unavailable("the instance is not leader")
	}
	if !h.Ready() {
		return nil, Unavailable("the scheduler is still reading the cluster")
	}
	ctx, cancel := context.WithTimeout(r.Context(), answerTimeout)
	defer cancel()
	nodes, err := h.Nodes(ctx)
	if err != nil {
		return nil, err
	}
	return answer(ctx, Call{Parameter: r.PathValue, Query: r.URL.Query(), Nodes: nodes})
}

// writeFailure writes an error as upstream does.
func writeFailure(w http.ResponseWriter, r *http.Request, err error) {
	status := http.StatusInternalServerError
	if known := (*failure)(nil); errors.As(err, &known) {
		status = known.status
	}
	write(w, r, status, map[string]string{"message": err.Error()})
}

func write(w http.ResponseWriter, r *http.Request, status int, object any) {
	text, err := json.Marshal(object)
	if err != nil {
		status, text = http.StatusInternalServerError, []byte(`{"message":"the answer cannot be encoded"}`)
		klog.FromContext(r.Context()).Error(err, "Failed to encode an answer", "path", r.URL.Path)
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	if _, err := w.Write(append(text, '\n')); err != nil {
		klog.FromContext(r.Context()).V(2).Info("Failed to write an answer", "err", err)
	}
}
