package certificate

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/util/retry"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"
)

// Lifetimes of certificates, and the tolerated clock difference between components.
const (
	AuthorityLifetime = 10 * 365 * 24 * time.Hour
	ServingLifetime   = 365 * 24 * time.Hour
	backdate          = time.Hour
)

// breath is how long an issuer waits after it is woken, so that two whose clocks disagree do not answer each other at once.
const breath = time.Second

// Issuer keeps the authority and the serving certificates in their Secrets. Any number of issuers may run at once: the first one
// creates a Secret, and updates apply only to the version that was read, so all agree on one content.
type Issuer struct {
	// Client reads and writes the Secrets.
	Client kubernetes.Interface
	// Namespace of the authority's Secret.
	Namespace string
	// Serving lists the certificates to keep.
	Serving []Names
	// Clock decides when to renew.
	Clock clock.WithTicker
	// Interval between two passes of Run; also how long a deleted Secret stays so, and a damaged one that Wake does not report.
	Interval time.Duration

	woken chan struct{}
}

// NewIssuer returns an issuer for koord-manager, koord-scheduler, koord-descheduler and koord-bridge in the namespace, on the real clock.
func NewIssuer(client kubernetes.Interface, namespace string) *Issuer {
	return &Issuer{
		Client:    client,
		Namespace: namespace,
		Serving: []Names{
			{Secret: ManagerSecret, Service: "koord-manager", Namespace: namespace},
			{Secret: SchedulerSecret, Service: "koord-scheduler", Namespace: namespace},
			{Secret: DeschedulerSecret, Service: "koord-descheduler", Namespace: namespace},
			{Secret: BridgeSecret, Service: "koord-bridge", Namespace: namespace},
		},
		Clock:    clock.RealClock{},
		Interval: time.Minute,
		woken:    make(chan struct{}, 1),
	}
}

// Wake has Run look at the Secrets within about a second: one of them was changed. It never blocks.
func (i *Issuer) Wake() {
	select {
	case i.woken <- struct{}{}:
	default: // it has been woken already, or does not listen
	}
}

// Run calls Ensure at once, and then every Interval and after Wake until ctx ends; a failed pass is logged and repeated. It never
// returns an error, so a cluster that refuses Secrets does not take the controllers down with it.
func (i *Issuer) Run(ctx context.Context) {
	ticker := i.Clock.NewTicker(i.Interval)
	defer ticker.Stop()
	for {
		if err := i.Ensure(ctx); err != nil && ctx.Err() == nil {
			klog.FromContext(ctx).Error(err, "Failed to reconcile the serving certificates")
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C():
		case <-i.woken:
			select {
			case <-ctx.Done():
				return
			case <-i.Clock.After(breath):
			}
		}
	}
}

// Ensure makes the authority and every serving certificate exist and be valid beyond their renewal time. One that cannot
// be kept does not keep the others from it.
func (i *Issuer) Ensure(ctx context.Context) error {
	ca, err := i.ensureAuthority(ctx)
	if err != nil {
		return err
	}
	var errs []error
	for _, names := range i.Serving {
		errs = append(errs, i.ensureServing(ctx, ca, names))
	}
	return errors.Join(errs...)
}

func (i *Issuer) ensureAuthority(ctx context.Context) (*authority, error) {
	secret, err := i.ensureSecret(ctx, AuthoritySecret, i.Namespace, i.renewAuthority)
	if err != nil {
		return nil, err
	}
	ca, err := parseAuthority(secret)
	if err != nil {
		return nil, err
	}
	if now := i.Clock.Now(); !now.Before(ca.certificate.NotAfter) {
		return nil, fmt.Errorf("CA certificate in secret %q expired at %s", AuthoritySecret, ca.certificate.NotAfter.Format(time.RFC3339))
	}
	return ca, nil
}

// renewAuthority replaces an authority that is unusable or past its renewal time. Certificates of its predecessors stay
// in the bundle until they expire, so what they signed remains trusted and is renewed in its own time.
func (i *Issuer) renewAuthority(secret *corev1.Secret) (bool, error) {
	now := i.Clock.Now()
	current, err := parseAuthority(secret)
	if err == nil && now.Before(renewalTime(current.certificate)) && len(secret.Data[AuthorityKey]) > 0 {
		return false, nil
	}
	fresh, err := newAuthorityPair(i.Namespace+"/"+AuthoritySecret, now.Add(-backdate), AuthorityLifetime)
	if err != nil {
		return false, err
	}
	fill(secret, fresh, slices.Concat(fresh.certificate, unexpired(secret.Data[AuthorityKey], now)))
	return true, nil
}

func (i *Issuer) ensureServing(ctx context.Context, ca *authority, names Names) error {
	_, err := i.ensureSecret(ctx, names.Secret, names.Namespace, func(secret *corev1.Secret) (bool, error) {
		now := i.Clock.Now()
		reason := verifyServing(secret, names, ca.bundle, now)
		if reason == nil {
			stale := !bytes.Equal(secret.Data[AuthorityKey], ca.bundle)
			if stale {
				secret.Data[AuthorityKey] = ca.bundle
			}
			return stale, nil
		}
		klog.FromContext(ctx).V(1).Info("Issuing a serving certificate", "secret", klog.KRef(names.Namespace, names.Secret), "reason", reason.Error())
		fresh, err := ca.issue(names, now.Add(-backdate), ServingLifetime)
		if err != nil {
			return false, err
		}
		fill(secret, fresh, ca.bundle)
		return true, nil
	})
	return err
}

// ensureSecret reads a Secret, lets renew change it, and writes it when renew reports a change. Somebody else's Secret
// is returned as it is. Lost races are repeated on what the winner wrote.
func (i *Issuer) ensureSecret(ctx context.Context, name, namespace string, renew func(*corev1.Secret) (bool, error)) (*corev1.Secret, error) {
	var result *corev1.Secret
	secrets := i.Client.CoreV1().Secrets(namespace)
	lostRace := func(err error) bool {
		return apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err) || apierrors.IsNotFound(err)
	}
	err := retry.OnError(retry.DefaultBackoff, lostRace, func() error {
		secret, err := secrets.Get(ctx, name, metav1.GetOptions{})
		absent := apierrors.IsNotFound(err)
		if absent {
			secret = newSecret(namespace, name)
		} else if err != nil {
			return err
		}
		if !absent && !managed(secret) {
			result = secret
			return nil
		}
		changed, err := renew(secret)
		if err != nil {
			return err
		}
		switch {
		case absent:
			result, err = secrets.Create(ctx, secret, metav1.CreateOptions{})
		case changed:
			result, err = secrets.Update(ctx, secret, metav1.UpdateOptions{})
		default:
			result = secret
			return nil
		}
		if err == nil {
			klog.FromContext(ctx).V(1).Info("Updated a serving certificate", "secret", klog.KObj(secret), "created", absent)
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("apply secret %q in namespace %q: %w", name, namespace, err)
	}
	return result, nil
}
