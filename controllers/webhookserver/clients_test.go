package webhookserver

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes/fake"
)

// authority issues certificates of clients.
type authority struct {
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
}

func newAuthority(t *testing.T) authority {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "authority"}, NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	certificate, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return authority{certificate, key}
}

func (a authority) pem() string {
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: a.certificate.Raw}))
}

func (a authority) issue(t *testing.T, name string, usage x509.ExtKeyUsage, until time.Duration) tls.ConnectionState {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: name}, NotBefore: time.Now().Add(-2 * time.Hour), NotAfter: time.Now().Add(until),
		ExtKeyUsage: []x509.ExtKeyUsage{usage},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.certificate, &key.PublicKey, a.key)
	if err != nil {
		t.Fatal(err)
	}
	certificate, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return tls.ConnectionState{PeerCertificates: []*x509.Certificate{certificate}}
}

func TestOnlyTheClustersAPIServersMayAsk(t *testing.T) {
	ours, others := newAuthority(t), newAuthority(t)
	const client, server = x509.ExtKeyUsageClientAuth, x509.ExtKeyUsageServerAuth
	tests := map[string]struct {
		names   string
		state   tls.ConnectionState
		unknown bool
		wantErr bool
	}{
		"an API server": {names: `["front-proxy-client"]`, state: ours.issue(t, "front-proxy-client", client, time.Hour)},
		"whoever is verified where no names are given": {names: `[]`, state: ours.issue(t, "anybody", client, time.Hour)},
		"another name":                        {names: `["front-proxy-client"]`, state: ours.issue(t, "eve", client, time.Hour), wantErr: true},
		"another authority":                   {names: `[]`, state: others.issue(t, "front-proxy-client", client, time.Hour), wantErr: true},
		"an expired certificate":              {names: `[]`, state: ours.issue(t, "front-proxy-client", client, -time.Hour), wantErr: true},
		"the certificate of a server":         {names: `[]`, state: ours.issue(t, "front-proxy-client", server, time.Hour), wantErr: true},
		"no certificate":                      {names: `[]`, wantErr: true},
		"nobody before the cluster was asked": {names: `[]`, state: ours.issue(t, "front-proxy-client", client, time.Hour), unknown: true, wantErr: true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			published := &corev1.ConfigMap{
				ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceSystem, Name: authenticationName},
				Data:       map[string]string{authoritiesKey: ours.pem(), namesKey: test.names},
			}
			clients, err := NewClients(fake.NewClientset(published))
			if err != nil {
				t.Fatal(err)
			}
			if !test.unknown {
				await(t, clients)
			}
			if err := clients.verify(test.state); (err != nil) != test.wantErr {
				t.Errorf("verified with %v, want an error: %t", err, test.wantErr)
			}
		})
	}
}

// await follows the cluster until everything it publishes is known.
func await(t *testing.T, clients *Clients) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { clients.run(ctx); close(done) }()
	t.Cleanup(func() { cancel(); <-done })
	if err := clients.names.RunOnce(ctx); err != nil {
		t.Fatal(err)
	}
	err := wait.PollUntilContextTimeout(ctx, 10*time.Millisecond, 10*time.Second, true, func(context.Context) (bool, error) {
		_, known := clients.authorities.VerifyOptions()
		return known, nil
	})
	if err != nil {
		t.Fatal("the authorities are not known: ", err)
	}
}
