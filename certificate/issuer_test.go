package certificate

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/util/cert"
	clocktesting "k8s.io/utils/clock/testing"

	"koordinator.sh/koord/test/eventually"
)

const namespace = "koordinator-system"

var start = time.Date(2030, time.January, 1, 0, 0, 0, 0, time.UTC)

func newTestIssuer(objects ...runtime.Object) (*Issuer, *fake.Clientset, *clocktesting.FakeClock) {
	client := fake.NewClientset(objects...)
	fakeClock := clocktesting.NewFakeClock(start)
	issuer := NewIssuer(client, namespace)
	issuer.Clock = fakeClock
	return issuer, client, fakeClock
}

func getSecret(t *testing.T, client *fake.Clientset, name string) *corev1.Secret {
	t.Helper()
	secret, err := client.CoreV1().Secrets(namespace).Get(t.Context(), name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return secret
}

func leafOf(t *testing.T, secret *corev1.Secret) *x509.Certificate {
	t.Helper()
	keyPair, err := tls.X509KeyPair(secret.Data[corev1.TLSCertKey], secret.Data[corev1.TLSPrivateKeyKey])
	if err != nil {
		t.Fatal(err)
	}
	return keyPair.Leaf
}

func trusts(t *testing.T, bundle []byte, leaf *x509.Certificate, name string, now time.Time) error {
	t.Helper()
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(bundle)
	_, err := leaf.Verify(x509.VerifyOptions{Roots: roots, DNSName: name, CurrentTime: now})
	return err
}

func TestEnsureIssuesCertificatesThatClientsAccept(t *testing.T) {
	issuer, client, _ := newTestIssuer()
	if err := issuer.Ensure(t.Context()); err != nil {
		t.Fatal(err)
	}
	for secretName, service := range map[string]string{ManagerSecret: "koord-manager", SchedulerSecret: "koord-scheduler"} {
		secret := getSecret(t, client, secretName)
		if secret.Type != corev1.SecretTypeTLS {
			t.Errorf("%s: type %q, want %q", secretName, secret.Type, corev1.SecretTypeTLS)
		}
		leaf := leafOf(t, secret)
		for _, name := range []string{service, service + "." + namespace + ".svc", "localhost", "127.0.0.1", "::1"} {
			if err := trusts(t, secret.Data[AuthorityKey], leaf, name, start); err != nil {
				t.Errorf("%s does not verify for %q: %v", secretName, name, err)
			}
		}
		if err := trusts(t, secret.Data[AuthorityKey], leaf, "example.org", start); err == nil {
			t.Errorf("%s verifies for a name that is not its own", secretName)
		}
		if leaf.IsCA {
			t.Errorf("%s could sign certificates", secretName)
		}
		if got := leaf.NotAfter.Sub(leaf.NotBefore); got != ServingLifetime {
			t.Errorf("%s lives %s, want %s", secretName, got, ServingLifetime)
		}
	}
}

func TestEnsureWritesNothingWhenAllIsWell(t *testing.T) {
	issuer, client, fakeClock := newTestIssuer()
	if err := issuer.Ensure(t.Context()); err != nil {
		t.Fatal(err)
	}
	client.ClearActions()
	fakeClock.Step(ServingLifetime / 2)
	if err := issuer.Ensure(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, action := range client.Actions() {
		if action.GetVerb() != "get" {
			t.Errorf("unexpected %s of %s", action.GetVerb(), action.GetResource().Resource)
		}
	}
}

func TestEnsureRenews(t *testing.T) {
	tests := []struct {
		name          string
		after         time.Duration
		damage        func(*corev1.Secret)
		wantReissue   bool
		wantAuthority bool
	}{
		{name: "not before two thirds of the life", after: ServingLifetime/3*2 - 2*time.Hour},
		{name: "at two thirds of the life", after: ServingLifetime / 3 * 2, wantReissue: true},
		{name: "long after expiry, when the manager was down", after: ServingLifetime * 2, wantReissue: true},
		{name: "the authority too, at two thirds of its life", after: AuthorityLifetime / 3 * 2, wantReissue: true, wantAuthority: true},
		{name: "a damaged key", damage: func(s *corev1.Secret) { s.Data[corev1.TLSPrivateKeyKey] = []byte("junk") }, wantReissue: true},
		{name: "emptied data", damage: func(s *corev1.Secret) { s.Data = nil }, wantReissue: true},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			issuer, client, fakeClock := newTestIssuer()
			if err := issuer.Ensure(t.Context()); err != nil {
				t.Fatal(err)
			}
			before, authorityBefore := getSecret(t, client, ManagerSecret), getSecret(t, client, AuthoritySecret)
			if tc.damage != nil {
				damaged := before.DeepCopy()
				tc.damage(damaged)
				if _, err := client.CoreV1().Secrets(namespace).Update(t.Context(), damaged, metav1.UpdateOptions{}); err != nil {
					t.Fatal(err)
				}
			}
			fakeClock.Step(tc.after)
			if err := issuer.Ensure(t.Context()); err != nil {
				t.Fatal(err)
			}
			after, authorityAfter := getSecret(t, client, ManagerSecret), getSecret(t, client, AuthoritySecret)
			if got := !bytes.Equal(before.Data[corev1.TLSCertKey], after.Data[corev1.TLSCertKey]); got != tc.wantReissue {
				t.Errorf("reissued = %v, want %v", got, tc.wantReissue)
			}
			if got := !bytes.Equal(authorityBefore.Data[corev1.TLSCertKey], authorityAfter.Data[corev1.TLSCertKey]); got != tc.wantAuthority {
				t.Errorf("authority replaced = %v, want %v", got, tc.wantAuthority)
			}
			if err := trusts(t, after.Data[AuthorityKey], leafOf(t, after), "localhost", fakeClock.Now()); err != nil {
				t.Errorf("the certificate does not verify afterwards: %v", err)
			}
		})
	}
}

func TestARenewedAuthorityKeepsItsPredecessorTrusted(t *testing.T) {
	issuer, client, fakeClock := newTestIssuer()
	fakeClock.Step(0)
	if err := issuer.Ensure(t.Context()); err != nil {
		t.Fatal(err)
	}
	fakeClock.Step(AuthorityLifetime/3*2 - ServingLifetime/3)
	if err := issuer.Ensure(t.Context()); err != nil {
		t.Fatal(err)
	}
	leaf := leafOf(t, getSecret(t, client, SchedulerSecret))

	fakeClock.Step(ServingLifetime / 3)
	if err := issuer.Ensure(t.Context()); err != nil {
		t.Fatal(err)
	}
	secret := getSecret(t, client, SchedulerSecret)
	certificates, err := cert.ParseCertsPEM(secret.Data[AuthorityKey])
	if err != nil {
		t.Fatal(err)
	}
	if len(certificates) != 2 {
		t.Fatalf("the bundle has %d certificates, want the new and the old authority", len(certificates))
	}
	if diff := cmp.Diff(leaf.SerialNumber, leafOf(t, secret).SerialNumber, cmp.Comparer(func(a, b interface{ String() string }) bool {
		return a.String() == b.String()
	})); diff != "" {
		t.Errorf("a certificate in mid-life was replaced with the authority (-want +got):\n%s", diff)
	}
	if err := trusts(t, secret.Data[AuthorityKey], leaf, "localhost", fakeClock.Now()); err != nil {
		t.Errorf("what the predecessor signed is no longer trusted: %v", err)
	}
}

func TestEnsureLeavesForeignSecretsAlone(t *testing.T) {
	donor, donorClient, _ := newTestIssuer()
	if err := donor.Ensure(t.Context()); err != nil {
		t.Fatal(err)
	}
	for name, takeOver := range map[string]func(*corev1.Secret){
		"made by somebody else": func(s *corev1.Secret) { s.Labels = map[string]string{ManagedByLabel: "cert-manager"} },
		"made by an issuer, and taken over by cert-manager": func(s *corev1.Secret) {
			s.Annotations = map[string]string{"cert-manager.io/certificate-name": "koord-scheduler-serving"}
		},
	} {
		t.Run(name, func(t *testing.T) {
			foreign := getSecret(t, donorClient, SchedulerSecret).DeepCopy()
			takeOver(foreign)
			issuer, client, fakeClock := newTestIssuer(foreign)
			fakeClock.Step(ServingLifetime)
			if err := issuer.Ensure(t.Context()); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(foreign.Data, getSecret(t, client, SchedulerSecret).Data); diff != "" {
				t.Errorf("the foreign secret was changed (-want +got):\n%s", diff)
			}
		})
	}
}

func TestEnsureReportsAnExpiredForeignAuthority(t *testing.T) {
	donor, donorClient, _ := newTestIssuer()
	if err := donor.Ensure(t.Context()); err != nil {
		t.Fatal(err)
	}
	foreign := getSecret(t, donorClient, AuthoritySecret)
	foreign.Labels = nil
	issuer, _, fakeClock := newTestIssuer(foreign)
	fakeClock.Step(AuthorityLifetime + time.Hour)
	if err := issuer.Ensure(t.Context()); err == nil {
		t.Error("an expired authority was used")
	}
}

func TestEnsureTakesOverWhatAFasterReplicaWrote(t *testing.T) {
	winner, winnerClient, _ := newTestIssuer()
	if err := winner.Ensure(t.Context()); err != nil {
		t.Fatal(err)
	}
	won := getSecret(t, winnerClient, AuthoritySecret)

	issuer, client, _ := newTestIssuer()
	lost := false
	client.PrependReactor("create", "secrets", func(action clienttesting.Action) (bool, runtime.Object, error) {
		secret := action.(clienttesting.CreateAction).GetObject().(*corev1.Secret)
		if secret.Name != AuthoritySecret || lost {
			return false, nil, nil
		}
		lost = true
		if err := client.Tracker().Add(won.DeepCopy()); err != nil {
			t.Error(err)
		}
		return true, nil, apierrors.NewAlreadyExists(corev1.Resource("secrets"), AuthoritySecret)
	})
	if err := issuer.Ensure(t.Context()); err != nil {
		t.Fatal(err)
	}
	if !lost {
		t.Fatal("the race did not happen")
	}
	secret := getSecret(t, client, ManagerSecret)
	if err := trusts(t, won.Data[AuthorityKey], leafOf(t, secret), "localhost", start); err != nil {
		t.Errorf("the certificate is not signed by the winner's authority: %v", err)
	}
}

func TestRunRepeatsAndEnds(t *testing.T) {
	issuer, client, fakeClock := newTestIssuer()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { defer close(done); issuer.Run(ctx) }()

	eventually.True(t, "the first pass", func() bool {
		_, err := client.CoreV1().Secrets(namespace).Get(ctx, SchedulerSecret, metav1.GetOptions{})
		return err == nil && fakeClock.HasWaiters()
	})
	if err := client.CoreV1().Secrets(namespace).Delete(ctx, ManagerSecret, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	fakeClock.Step(issuer.Interval)
	eventually.True(t, "the deleted secret's return", func() bool {
		_, err := client.CoreV1().Secrets(namespace).Get(ctx, ManagerSecret, metav1.GetOptions{})
		return err == nil
	})
	cancel()
	<-done
}

func TestACertificateThatCannotBeKeptLeavesTheOthers(t *testing.T) {
	issuer, client, _ := newTestIssuer()
	client.PrependReactor("create", "secrets", func(action clienttesting.Action) (bool, runtime.Object, error) {
		created, ok := action.(clienttesting.CreateAction).GetObject().(*corev1.Secret)
		if ok && created.Name == ManagerSecret {
			return true, nil, apierrors.NewForbidden(corev1.Resource("secrets"), ManagerSecret, nil)
		}
		return false, nil, nil
	})
	if err := issuer.Ensure(t.Context()); !apierrors.IsForbidden(err) {
		t.Errorf("error %v, want the refusal", err)
	}
	if secret := getSecret(t, client, SchedulerSecret); len(secret.Data[corev1.TLSCertKey]) == 0 {
		t.Error("the scheduler got no certificate")
	}
}

// TestAnIssuerThatIsWokenLooksAtOnce damages a Secret between two passes.
func TestAnIssuerThatIsWokenLooksAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := fake.NewClientset()
		issuer := NewIssuer(client, namespace)
		provider := NewSecretProvider(client, namespace, ManagerSecret)
		provider.OnChange(issuer.Wake)
		ctx, cancel := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() { issuer.Run(ctx) })
		defer running.Wait()
		defer cancel()
		synctest.Wait()
		damaged := getSecret(t, client, ManagerSecret)
		good := damaged.Data[corev1.TLSCertKey]
		expired, err := issuedAt(t, client, time.Now().Add(-2*ServingLifetime))
		if err != nil {
			t.Fatal(err)
		}
		damaged.Data[corev1.TLSCertKey], damaged.Data[corev1.TLSPrivateKeyKey] = expired.certificate, expired.key
		if _, err := client.CoreV1().Secrets(namespace).Update(ctx, damaged, metav1.UpdateOptions{}); err != nil {
			t.Fatal(err)
		}
		for range 3 { // several changes are one
			if err := provider.RunOnce(ctx); err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(breath)
		synctest.Wait()
		leaf := leafOf(t, getSecret(t, client, ManagerSecret))
		if !time.Now().Before(leaf.NotAfter) || bytes.Equal(getSecret(t, client, ManagerSecret).Data[corev1.TLSCertKey], good) {
			t.Errorf("the certificate is valid until %s, %s after the change", leaf.NotAfter, breath)
		}
	})
}

// issuedAt is a serving certificate of the authority as it would have been issued at another time.
func issuedAt(t *testing.T, client *fake.Clientset, at time.Time) (pair, error) {
	t.Helper()
	ca, err := parseAuthority(getSecret(t, client, AuthoritySecret))
	if err != nil {
		return pair{}, err
	}
	return ca.issue(Names{Secret: ManagerSecret, Service: "koord-manager", Namespace: namespace}, at, ServingLifetime)
}
