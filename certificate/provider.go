package certificate

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apiserver/pkg/server/dynamiccertificates"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
)

// pollInterval is how often WaitForSecret looks.
const pollInterval = 500 * time.Millisecond

// content is one usable state of a Secret.
type content struct {
	pair
	bundle []byte
	parsed tls.Certificate
}

// SecretProvider serves the certificate of one Secret and follows its changes. A Secret that disappears or breaks does
// not disturb the server: the last usable content stays. Safe for concurrent use.
type SecretProvider struct {
	client          kubernetes.Interface
	namespace, name string

	current atomic.Pointer[content]

	mutex     sync.Mutex
	listeners []dynamiccertificates.Listener
}

var (
	_ dynamiccertificates.CertKeyContentProvider = (*SecretProvider)(nil)
	_ dynamiccertificates.ControllerRunner       = (*SecretProvider)(nil)
)

// NewSecretProvider returns a provider of the Secret's certificate. It holds nothing until WaitForSecret, RunOnce or Run
// has read the Secret.
func NewSecretProvider(client kubernetes.Interface, namespace, name string) *SecretProvider {
	return &SecretProvider{client: client, namespace: namespace, name: name}
}

// Name identifies the provider in logs.
func (p *SecretProvider) Name() string { return "secret::" + p.namespace + "::" + p.name }

// CurrentCertKeyContent returns the last usable certificate and key in PEM; nil before the first one.
func (p *SecretProvider) CurrentCertKeyContent() ([]byte, []byte) {
	if c := p.current.Load(); c != nil {
		return c.certificate, c.key
	}
	return nil, nil
}

// CurrentCABundle returns the bundle that verifies the certificate, in PEM; nil before the first one, empty when the
// Secret has no ca.crt.
func (p *SecretProvider) CurrentCABundle() []byte {
	if c := p.current.Load(); c != nil {
		return c.bundle
	}
	return nil
}

// GetCertificate is for tls.Config: the current certificate, or an error before the first one.
func (p *SecretProvider) GetCertificate(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	if c := p.current.Load(); c != nil {
		return &c.parsed, nil
	}
	return nil, fmt.Errorf("secret %q in namespace %q has not been read yet", p.name, p.namespace)
}

// AddListener adds a listener that is called on every change.
func (p *SecretProvider) AddListener(listener dynamiccertificates.Listener) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.listeners = append(p.listeners, listener)
}

// OnChange has a function called after every change. It must not block.
func (p *SecretProvider) OnChange(call func()) { p.AddListener(listener(call)) }

// listener is a function as dynamiccertificates.Listener.
type listener func()

// Enqueue calls the function.
func (l listener) Enqueue() { l() }

// RunOnce reads the Secret once.
func (p *SecretProvider) RunOnce(ctx context.Context) error {
	secret, err := p.client.CoreV1().Secrets(p.namespace).Get(ctx, p.name, metav1.GetOptions{})
	if err != nil {
		return fmt.Errorf("get secret %q in namespace %q: %w", p.name, p.namespace, err)
	}
	return p.load(secret)
}

// WaitForSecret blocks until the Secret has been read and is usable. When ctx ends first, the error says what was wrong
// with the Secret at the last attempt.
func (p *SecretProvider) WaitForSecret(ctx context.Context) error {
	var last error
	err := wait.PollUntilContextCancel(ctx, pollInterval, true, func(ctx context.Context) (bool, error) {
		attempt := p.RunOnce(ctx)
		if attempt != nil && !errors.Is(attempt, context.Canceled) && !errors.Is(attempt, context.DeadlineExceeded) {
			last = attempt
		}
		return attempt == nil, nil
	})
	if err != nil && last != nil {
		return fmt.Errorf("wait for a serving certificate: %w", last)
	}
	return err
}

// Run follows the Secret until ctx ends. The number of workers is ignored: one suffices.
func (p *SecretProvider) Run(ctx context.Context, _ int) {
	factory := informers.NewSharedInformerFactoryWithOptions(p.client, 0,
		informers.WithNamespace(p.namespace),
		informers.WithTweakListOptions(func(options *metav1.ListOptions) {
			options.FieldSelector = fields.OneTermEqualSelector(metav1.ObjectNameField, p.name).String()
		}))
	informer := factory.Core().V1().Secrets().Informer()
	handle := func(object any) {
		secret, ok := object.(*corev1.Secret)
		if !ok || secret.Name != p.name {
			return
		}
		if err := p.load(secret); err != nil {
			klog.FromContext(ctx).Error(err, "Failed to load the new serving certificate; the previous one stays in use")
		}
	}
	if _, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    handle,
		UpdateFunc: func(_, object any) { handle(object) },
	}); err != nil {
		klog.FromContext(ctx).Error(err, "Failed to watch the secret of the serving certificate", "provider", p.Name())
		return
	}
	factory.StartWithContext(ctx)
	<-ctx.Done()
	factory.Shutdown()
}

// load takes over a Secret's content when it is usable and different.
func (p *SecretProvider) load(secret *corev1.Secret) error {
	next := &content{
		pair:   pair{certificate: secret.Data[corev1.TLSCertKey], key: secret.Data[corev1.TLSPrivateKeyKey]},
		bundle: secret.Data[AuthorityKey],
	}
	var err error
	if next.parsed, err = tls.X509KeyPair(next.certificate, next.key); err != nil {
		return fmt.Errorf("load the key pair of secret %q in namespace %q: %w", p.name, p.namespace, err)
	}
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if now := p.current.Load(); now != nil && bytes.Equal(now.certificate, next.certificate) &&
		bytes.Equal(now.key, next.key) && bytes.Equal(now.bundle, next.bundle) {
		return nil
	}
	p.current.Store(next)
	for _, listener := range p.listeners {
		listener.Enqueue()
	}
	return nil
}
