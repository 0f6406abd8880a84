package integration

import (
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"path/filepath"
	"sync"
	"testing"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// fate is what a proxy does with a request.
type fate int

const (
	// pass sends it on and the answer back.
	pass fate = iota
	// hold keeps it until the connection is cut.
	hold
	// lose sends it on and cuts the connection instead of answering.
	lose
	// refuse cuts the connection at once.
	refuse
)

// proxy stands between a scheduler and the API server. It serves plain HTTP, so that every watch has a connection of its
// own, and speaks to the API server as the administrator. It is safe for concurrent use.
type proxy struct {
	server  *httptest.Server
	forward *httputil.ReverseProxy

	mutex sync.Mutex
	// decide is asked about every request that is no watch; nil passes all.
	decide func(*http.Request) fate
	// stalled is closed when watches may go on; nil while they do.
	stalled chan struct{}
	// gone is closed when the connections of its time are cut.
	gone chan struct{}
	open map[net.Conn]bool
}

// startProxy starts a proxy, which ends with the test, and returns it with a kubeconfig that leads through it.
func startProxy(t *testing.T) (p *proxy, kubeconfig string) {
	t.Helper()
	config := administrator(t)
	target, err := url.Parse(config.Host)
	if err != nil {
		t.Fatal(err)
	}
	transport, err := rest.TransportFor(config)
	if err != nil {
		t.Fatal(err)
	}
	quiet := log.New(io.Discard, "", 0)
	p = &proxy{open: map[net.Conn]bool{}, gone: make(chan struct{}), forward: &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(target) }, Transport: transport, FlushInterval: -1, ErrorLog: quiet,
	}}
	p.server = httptest.NewUnstartedServer(p)
	p.server.Config.ErrorLog = quiet
	p.server.Config.ConnState = p.track
	p.server.Start()
	t.Cleanup(func() {
		p.resume()
		p.cut()
		p.server.CloseClientConnections()
		p.server.Close()
	})
	file := clientcmdapi.NewConfig()
	file.Clusters["proxy"] = &clientcmdapi.Cluster{Server: p.server.URL}
	file.Contexts["proxy"] = &clientcmdapi.Context{Cluster: "proxy"}
	file.CurrentContext = "proxy"
	kubeconfig = filepath.Join(t.TempDir(), "kubeconfig")
	if err := clientcmd.WriteToFile(*file, kubeconfig); err != nil {
		t.Fatal(err)
	}
	return p, kubeconfig
}

// ServeHTTP does with a request what is decided of it.
func (p *proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Query().Get("watch") != "" {
		p.forward.ServeHTTP(&stallingWriter{ResponseWriter: w, proxy: p, request: r}, r)
		return
	}
	p.mutex.Lock()
	decide, gone := p.decide, p.gone
	p.mutex.Unlock()
	decision := pass
	if decide != nil {
		decision = decide(r)
	}
	switch decision {
	case pass:
		p.forward.ServeHTTP(w, r)
		return
	case hold:
		select {
		case <-gone:
		case <-r.Context().Done():
		}
	case lose:
		p.forward.ServeHTTP(httptest.NewRecorder(), r)
	}
	panic(http.ErrAbortHandler) // cuts the connection
}

// rule sets what is done with requests that are no watches; nil passes all.
func (p *proxy) rule(decide func(*http.Request) fate) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.decide = decide
}

// stall keeps back what watches say, until resume. Other requests are answered.
func (p *proxy) stall() {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if p.stalled == nil {
		p.stalled = make(chan struct{})
	}
}

// resume lets watches go on.
func (p *proxy) resume() {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if p.stalled != nil {
		close(p.stalled)
		p.stalled = nil
	}
}

// cut closes all connections, also those of requests that are held.
func (p *proxy) cut() {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	close(p.gone)
	p.gone = make(chan struct{})
	for connection := range p.open {
		_ = connection.Close() // the other side sees it
	}
}

func (p *proxy) track(connection net.Conn, state http.ConnState) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if state == http.StateClosed || state == http.StateHijacked {
		delete(p.open, connection)
	} else {
		p.open[connection] = true
	}
}

// stallingWriter writes the events of a watch when they are not kept back.
type stallingWriter struct {
	http.ResponseWriter
	proxy   *proxy
	request *http.Request
}

// Write waits until the watches may go on.
func (s *stallingWriter) Write(data []byte) (int, error) {
	s.proxy.mutex.Lock()
	stalled := s.proxy.stalled
	s.proxy.mutex.Unlock()
	if stalled != nil {
		select {
		case <-stalled:
		case <-s.request.Context().Done():
			return 0, s.request.Context().Err()
		}
	}
	return s.ResponseWriter.Write(data)
}

// Unwrap lets the reverse proxy flush.
func (s *stallingWriter) Unwrap() http.ResponseWriter { return s.ResponseWriter }
