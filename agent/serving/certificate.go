package serving

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"math/big"
	"os"
	"path/filepath"
	"time"

	"k8s.io/client-go/util/keyutil"
)

const (
	// lifetime of a certificate that the agent makes itself. It is replaced when a third of it is left.
	lifetime = 365 * 24 * time.Hour
	// backdated lets clocks that are late take it.
	backdated = 5 * time.Minute
)

// Files of the certificate and its key in the state directory.
const (
	certificateFile = "serving.crt"
	keyFile         = "serving.key"
)

// Fingerprint is the SHA-256 of a certificate in hexadecimal digits, by which clients without a common authority verify it.
func Fingerprint(certificate *x509.Certificate) string {
	sum := sha256.Sum256(certificate.Raw)
	return hex.EncodeToString(sum[:])
}

// kept returns the self-signed certificate of a directory, and makes a new one when there is none, it cannot be read, or it is
// about to expire.
func kept(directory, name string, now time.Time) (*tls.Certificate, error) {
	certificatePath, keyPath := filepath.Join(directory, certificateFile), filepath.Join(directory, keyFile)
	pair, err := tls.LoadX509KeyPair(certificatePath, keyPath)
	if err == nil && !due(pair.Leaf, now) {
		return &pair, nil
	}
	if errors.Is(err, fs.ErrPermission) {
		return nil, fmt.Errorf("read the serving certificate: %w", err)
	}
	certificate, key, err := selfSigned(name, now)
	if err != nil {
		return nil, fmt.Errorf("create the serving certificate: %w", err)
	}
	// The key goes first: a certificate without its key is replaced.
	if err := errors.Join(replace(keyPath, key), replace(certificatePath, certificate)); err != nil {
		return nil, fmt.Errorf("save the serving certificate: %w", err)
	}
	pair, err = tls.X509KeyPair(certificate, key)
	if err != nil {
		return nil, fmt.Errorf("create the serving certificate: %w", err)
	}
	return &pair, nil
}

// due is true when a certificate has less than a third of its life left.
func due(certificate *x509.Certificate, now time.Time) bool {
	life := certificate.NotAfter.Sub(certificate.NotBefore)
	return now.Before(certificate.NotBefore) || !now.Before(certificate.NotAfter.Add(-life/3))
}

// replace writes a file beside and puts it into place.
func replace(path string, content []byte) error {
	beside := path + ".new"
	if err := os.WriteFile(beside, content, 0o600); err != nil {
		return err
	}
	return os.Rename(beside, path)
}

// selfSigned makes a certificate for servers, in PEM, and its key.
func selfSigned(name string, now time.Time) (certificate, key []byte, err error) {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, err
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127))
	if err != nil {
		return nil, nil, err
	}
	template := &x509.Certificate{
		SerialNumber: serial, Subject: pkix.Name{CommonName: "koordlet-" + name}, DNSNames: []string{"localhost"}, BasicConstraintsValid: true,
		NotBefore: now.Add(-backdated).UTC(), NotAfter: now.Add(lifetime).UTC(),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, private.Public(), private)
	if err != nil {
		return nil, nil, err
	}
	if key, err = keyutil.MarshalPrivateKeyToPEM(private); err != nil {
		return nil, nil, err
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), key, nil
}

// inMemory is a self-signed certificate that ends with the process.
func inMemory(name string, now time.Time) (*tls.Certificate, error) {
	certificate, key, err := selfSigned(name, now)
	if err != nil {
		return nil, fmt.Errorf("create the serving certificate: %w", err)
	}
	pair, err := tls.X509KeyPair(certificate, key)
	return &pair, err
}
