package yarnagent

import (
	"encoding/json"
	"errors"
	"net/http"
	"slices"

	"koordinator.sh/koord/agent/copilot"
)

// mostRequestBytes of a request are read.
const mostRequestBytes = 64 << 10

// handler serves the protocol of package copilot.
func (a *agent) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+copilot.PathHealth, a.serveHealth)
	mux.HandleFunc("GET "+copilot.PathInformation, func(w http.ResponseWriter, _ *http.Request) {
		answer(w, copilot.Information{Name: name, Version: "v1"})
	})
	mux.HandleFunc("GET "+copilot.PathContainers, a.serveContainers)
	mux.HandleFunc("GET "+copilot.PathContainer, a.serveContainer)
	mux.HandleFunc("POST "+copilot.PathKillContainer, a.serveKill)
	mux.HandleFunc("POST "+copilot.PathKillContainersByResource, a.serveKillByResource)
	return mux
}

func (a *agent) serveHealth(w http.ResponseWriter, _ *http.Request) {
	if err := a.healthy(); err != nil {
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
		return
	}
	answer(w, "ok")
}

func (a *agent) serveContainers(w http.ResponseWriter, r *http.Request) {
	found, err := a.containers(r.Context())
	if err != nil {
		refuse(w, err)
		return
	}
	answer(w, copilot.ContainerList{Containers: found})
}

func (a *agent) serveContainer(w http.ResponseWriter, r *http.Request) {
	found, err := a.containers(r.Context())
	id := r.URL.Query().Get(copilot.ParameterContainerID)
	i := slices.IndexFunc(found, func(c copilot.Container) bool { return c.Name == id })
	switch {
	case err != nil:
		refuse(w, err)
	case i < 0:
		refuse(w, errNoContainer)
	default:
		answer(w, found[i])
	}
}

func (a *agent) serveKill(w http.ResponseWriter, r *http.Request) {
	request, valid := requestOf(w, r)
	if !valid {
		return
	}
	if _, _, valid := application(request.ContainerID); !valid {
		http.Error(w, "containerID is not the ID of a container", http.StatusBadRequest)
		return
	}
	killed, err := a.kill(r.Context(), request.ContainerID)
	if err != nil {
		refuse(w, err)
		return
	}
	answer(w, killed)
}

func (a *agent) serveKillByResource(w http.ResponseWriter, r *http.Request) {
	request, valid := requestOf(w, r)
	if !valid {
		return
	}
	if amount := copilot.AmountOf(request.Resources); amount.MilliCPU <= 0 && amount.Memory <= 0 {
		http.Error(w, "resources name neither CPU nor memory", http.StatusBadRequest)
		return
	}
	killed, err := a.killByResource(r.Context(), request.Resources)
	if err != nil {
		refuse(w, err)
		return
	}
	answer(w, copilot.ContainerList{Containers: killed})
}

// requestOf reads a request to kill; false when it answered that there is none.
func requestOf(w http.ResponseWriter, r *http.Request) (copilot.KillRequest, bool) {
	var out copilot.KillRequest
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, mostRequestBytes)).Decode(&out); err != nil {
		http.Error(w, "read the request: "+err.Error(), http.StatusBadRequest)
		return out, false
	}
	return out, true
}

func answer(w http.ResponseWriter, value any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(value) // who asked may have gone
}

func refuse(w http.ResponseWriter, err error) {
	status := http.StatusInternalServerError
	switch {
	case errors.Is(err, errNoContainer):
		status = http.StatusNotFound
	case errors.Is(err, errNotListed):
		status = http.StatusServiceUnavailable
	}
	http.Error(w, err.Error(), status)
}
