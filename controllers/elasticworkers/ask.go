package elasticworkers

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
)

const (
	// askTimeout bounds one request, and mostAnswer the bytes that are read of its answer.
	askTimeout = 3 * time.Second
	mostAnswer = 64 << 10
)

// asker talks to workers and coordinators by HTTP. It is safe for concurrent use.
type asker struct {
	client *http.Client
	// services reads the Services of coordinators, and pods the pods behind them.
	services, pods client.Reader
	// allows says whether an address may be that of a worker.
	allows func(netip.Addr) bool
}

// newAsker returns an asker that neither follows redirects nor uses a proxy, so that nothing but a pod is asked.
func newAsker(services, pods client.Reader) *asker {
	return &asker{
		services: services, pods: pods,
		client: &http.Client{
			Timeout:       askTimeout,
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
			Transport: &http.Transport{
				DisableKeepAlives: true,
				TLSClientConfig:   &tls.Config{InsecureSkipVerify: true}, // as kubelet's probes: certificates of pods are for names, not addresses
			},
		},
		allows: func(address netip.Addr) bool {
			return address.IsGlobalUnicast() // neither this machine, nor the metadata service of a cloud
		},
	}
}

// ask asks a worker to finish, or its coordinator to have it do so; any answer but success is an error, and one that lacks what it must
// contain.
func (a *asker) ask(ctx context.Context, drain *schedulingv1alpha1.ElasticWorkersDrainHTTP, pod *corev1.Pod) error {
	method := drain.Method
	if method == "" {
		method = http.MethodPut
	}
	fill := placeholders(pod)
	answer, err := a.send(ctx, method, fill.Replace(drain.Path), strings.NewReader(fill.Replace(drain.Body)), drain, pod)
	if err != nil {
		return err
	}
	if want := fill.Replace(drain.AnswerContains); !strings.Contains(answer, want) {
		return fmt.Errorf("the answer %.100q does not contain %q", answer, want)
	}
	return nil
}

// state is what is answered to the question whether a worker has finished.
func (a *asker) state(ctx context.Context, drain *schedulingv1alpha1.ElasticWorkersDrainHTTP, pod *corev1.Pod) (string, error) {
	return a.send(ctx, http.MethodGet, placeholders(pod).Replace(drain.Done.Path), http.NoBody, drain, pod)
}

// placeholders replaces what stands for a worker in the texts of requests.
func placeholders(pod *corev1.Pod) *strings.Replacer {
	return strings.NewReplacer("$$", "$", "$(POD_NAME)", pod.Name, "$(POD_NAMESPACE)", pod.Namespace, "$(POD_IP)", pod.Status.PodIP)
}

func (a *asker) send(ctx context.Context, method, path string, body io.Reader, drain *schedulingv1alpha1.ElasticWorkersDrainHTTP, pod *corev1.Pod) (string, error) {
	host, err := a.hostFor(ctx, drain, pod)
	if err != nil {
		return "", err
	}
	request, err := newRequest(ctx, method, path, body, drain, host)
	if err != nil {
		return "", err
	}
	response, err := a.client.Do(request)
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(response.Body, mostAnswer+1))
	switch {
	case response.StatusCode < 200 || response.StatusCode > 299:
		return "", fmt.Errorf("%s %s answers %q", method, request.URL, response.Status)
	case err != nil:
		return "", fmt.Errorf("read the answer of %s %s: %w", method, request.URL, err)
	case len(answer) > mostAnswer:
		return "", fmt.Errorf("the answer of %s %s is longer than %d bytes", method, request.URL, mostAnswer)
	}
	return strings.TrimSpace(string(answer)), nil
}

// hostFor is the address and the port that requests for a worker go to.
func (a *asker) hostFor(ctx context.Context, drain *schedulingv1alpha1.ElasticWorkersDrainHTTP, pod *corev1.Pod) (string, error) {
	if drain.Service != nil {
		return a.hostOf(ctx, pod.Namespace, drain.Service)
	}
	address, err := a.addressOf(pod)
	if err != nil {
		return "", err
	}
	return net.JoinHostPort(address, strconv.Itoa(int(drain.Port))), nil
}

// addressOf is the address of a pod, where it has one of its own.
func (a *asker) addressOf(pod *corev1.Pod) (string, error) {
	if pod.Spec.HostNetwork {
		return "", errors.New("the pod is on the host network, where other programs would be asked")
	}
	address, err := netip.ParseAddr(pod.Status.PodIP)
	if err != nil {
		return "", fmt.Errorf("read the address of the pod: %w", err)
	}
	if !a.allows(address.Unmap()) {
		return "", fmt.Errorf("%s cannot be the address of a pod", address)
	}
	return address.String(), nil
}

func newRequest(ctx context.Context, method, path string, body io.Reader, drain *schedulingv1alpha1.ElasticWorkersDrainHTTP, host string) (*http.Request, error) {
	parsed, err := url.ParseRequestURI(path)
	if err != nil || parsed.Host != "" || parsed.Scheme != "" {
		return nil, fmt.Errorf("path %q is not a path", path)
	}
	scheme := strings.ToLower(string(drain.Scheme))
	if scheme == "" {
		scheme = "http"
	}
	parsed.Scheme, parsed.Host = scheme, host
	request, err := http.NewRequestWithContext(ctx, method, parsed.String(), body)
	if err != nil {
		return nil, err
	}
	if method != http.MethodGet {
		request.Header.Set("Content-Type", drain.ContentType)
	}
	for _, header := range drain.Headers {
		request.Header.Set(header.Name, header.Value)
	}
	return request, nil
}
