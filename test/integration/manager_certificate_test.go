package integration

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/keyutil"

	"koordinator.sh/koord/certificate"
	"koordinator.sh/koord/sandbox/component"
	"koordinator.sh/koord/test/sandboxtest"
)

var apiServiceResource = schema.GroupVersionResource{Group: "apiregistration.k8s.io", Version: "v1", Resource: "apiservices"}

// expiry bounds how long pods with co-location are refused because of a certificate.
const expiry = 15 * time.Second

func secretOf(t *testing.T, name string) *corev1.Secret {
	t.Helper()
	secret, err := client.CoreV1().Secrets(systemNamespace).Get(context.WithoutCancel(t.Context()), name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return secret
}

// expired is a certificate like the manager's, of the same authority, whose time is over.
func expired(t *testing.T) (certificatePEM, keyPEM []byte) {
	t.Helper()
	secret := secretOf(t, certificate.AuthoritySecret)
	authority, err := tls.X509KeyPair(secret.Data[corev1.TLSCertKey], secret.Data[corev1.TLSPrivateKeyKey])
	if err != nil {
		t.Fatal(err)
	}
	return signed(t, authority, time.Now().Add(-time.Hour))
}

// signed is a certificate like the manager's, of an authority, that was in its time until a moment. Without an authority it is
// one itself.
func signed(t *testing.T, authority tls.Certificate, until time.Time) (certificatePEM, keyPEM []byte) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	name := "koord-manager." + systemNamespace
	template := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: "koord-manager"},
		NotBefore: time.Now().Add(-48 * time.Hour), NotAfter: until,
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		DNSNames:    []string{"koord-manager", name, name + ".svc", name + ".svc.cluster.local", "localhost"},
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
	}
	if authority.Leaf == nil {
		template.Subject.CommonName, template.IsCA, template.BasicConstraintsValid = "somebody else", true, true
		template.KeyUsage, template.ExtKeyUsage = x509.KeyUsageCertSign, nil
		authority = tls.Certificate{Leaf: template, PrivateKey: key}
	}
	der, err := x509.CreateCertificate(rand.Reader, template, authority.Leaf, key.Public(), authority.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	if keyPEM, err = keyutil.MarshalPrivateKeyToPEM(key); err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), keyPEM
}

// install puts a certificate into the manager's Secret.
func install(t *testing.T, certificatePEM, keyPEM []byte) {
	t.Helper()
	installAll(t, map[string][]byte{corev1.TLSCertKey: certificatePEM, corev1.TLSPrivateKeyKey: keyPEM})
}

// installAll changes the data of the manager's Secret.
func installAll(t *testing.T, data map[string][]byte) {
	t.Helper()
	patch, err := json.Marshal(map[string]any{"data": data})
	if err != nil {
		t.Fatal(err)
	}
	_, err = client.CoreV1().Secrets(systemNamespace).Patch(t.Context(), certificate.ManagerSecret, types.MergePatchType, patch, metav1.PatchOptions{})
	if err != nil {
		t.Fatal(err)
	}
}

// served checks that what the sandbox's manager serves at the port of the webhooks is in its time and can be verified by a bundle.
func served(t *testing.T, bundle []byte) error {
	t.Helper()
	return servedAt(t, ownPort(t), bundle, nil)
}

// servedAt is served for a port, where a certificate is the one that is served unless it is nil.
func servedAt(t *testing.T, port int, bundle, certificatePEM []byte) error {
	t.Helper()
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(bundle) {
		return errors.New("the bundle is empty")
	}
	dialer := tls.Dialer{Config: &tls.Config{RootCAs: roots, ServerName: "koord-manager." + systemNamespace + ".svc"}}
	connection, err := dialer.DialContext(context.WithoutCancel(t.Context()), "tcp", fmt.Sprintf("127.0.0.1:%d", port))
	if err != nil {
		return err
	}
	leaf := connection.(*tls.Conn).ConnectionState().PeerCertificates[0]
	if got := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: leaf.Raw}); certificatePEM != nil && !bytes.Equal(got, certificatePEM) {
		err = errors.New("another certificate is served")
	}
	return errors.Join(err, connection.Close())
}

// bundles are what verifies the manager, by who asks it.
func bundles(t *testing.T) (map[string][]byte, error) {
	t.Helper()
	out := map[string][]byte{}
	mutating, err := client.AdmissionregistrationV1().MutatingWebhookConfigurations().Get(context.WithoutCancel(t.Context()), "koordinator-admission", metav1.GetOptions{})
	if err != nil {
		return nil, err
	}
	for _, webhook := range mutating.Webhooks {
		out[webhook.Name] = webhook.ClientConfig.CABundle
	}
	validating, err := client.AdmissionregistrationV1().ValidatingWebhookConfigurations().Get(context.WithoutCancel(t.Context()), "koordinator-admission", metav1.GetOptions{})
	if err != nil {
		return nil, err
	}
	for _, webhook := range validating.Webhooks {
		out[webhook.Name] = webhook.ClientConfig.CABundle
	}
	service, err := dynamicClient.Resource(apiServiceResource).Get(context.WithoutCancel(t.Context()), "v1alpha1.diagnostics.koordinator.sh", metav1.GetOptions{})
	if err != nil {
		return nil, err
	}
	text, _, _ := unstructured.NestedString(service.Object, "spec", "caBundle")
	out["diagnostics"], err = base64.StdEncoding.DecodeString(text)
	return out, err
}

// trusted checks that everybody who asks the manager can verify what it serves.
func trusted(t *testing.T) error {
	t.Helper()
	all, err := bundles(t)
	if err != nil {
		return err
	}
	want := secretOf(t, certificate.AuthoritySecret).Data[certificate.AuthorityKey]
	for who, bundle := range all {
		if !bytes.Equal(bundle, want) {
			return fmt.Errorf("%s does not have the authority's bundle", who)
		}
	}
	return served(t, want)
}

// TestAnExpiredCertificateIsReplacedWhilePodsAreCreated has the time of the manager's certificate run out, and then loses the
// authority as well, while pods of every sort are created. The manager goes on with new ones, as the process that it was.
func TestAnExpiredCertificateIsReplacedWhilePodsAreCreated(t *testing.T) {
	awaitAdmission(t)
	sorts := arrivals(t, "expired")
	before := componentOf(t, component.Manager)
	stop := arrive(t, sorts)

	t.Cleanup(func() { // without a manager that can be asked, other tests fail
		sandboxtest.Eventually(t, 2*patience, func() error { return trusted(t) })
	})
	past, key := expired(t)
	install(t, past, key)
	sandboxtest.Eventually(t, expiry, func() error {
		if bytes.Equal(secretOf(t, certificate.ManagerSecret).Data[corev1.TLSCertKey], past) {
			return errors.New("the expired certificate is still there")
		}
		return trusted(t)
	})
	awaitArrivals(t, sorts, true)

	authority := secretOf(t, certificate.AuthoritySecret)
	err := client.CoreV1().Secrets(systemNamespace).Delete(t.Context(), certificate.AuthoritySecret, metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &authority.UID}})
	if err != nil {
		t.Fatal(err)
	}
	install(t, past, key)
	sandboxtest.Eventually(t, expiry, func() error {
		fresh, err := client.CoreV1().Secrets(systemNamespace).Get(context.WithoutCancel(t.Context()), certificate.AuthoritySecret, metav1.GetOptions{})
		if err != nil {
			return err
		}
		if bytes.Equal(fresh.Data[corev1.TLSCertKey], authority.Data[corev1.TLSCertKey]) {
			return errors.New("the authority is the lost one")
		}
		return trusted(t)
	})
	awaitArrivals(t, sorts, true)
	stop()
	if after := componentOf(t, component.Manager); after.PID != before.PID || after.Restarts != before.Restarts {
		t.Errorf("the manager was %+v and is %+v, want the same process", before, after)
	}
}
