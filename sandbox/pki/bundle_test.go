package pki

import (
	"crypto/x509"
	"encoding/pem"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"koordinator.sh/koord/sandbox/state"
)

// started is when the sandbox of the tests was first started.
var started = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

const day = 24 * time.Hour

func TestCertificatesVerifyAgainstTheirAuthority(t *testing.T) {
	dir := newDir(t)
	b := ensure(t, dir, started)
	cluster, etcd, frontProxy := b.CAFile, b.EtcdCAFile, b.FrontProxyCAFile
	server, client := x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth
	tests := map[string]struct {
		pair      Pair
		authority string
		usage     x509.ExtKeyUsage
		hosts     []string
	}{
		"API server": {b.APIServer, cluster, server, []string{
			"127.0.0.1", "::1", "localhost", "10.96.0.1", "kubernetes.default.svc", "kubernetes.default.svc.cluster.local",
		}},
		"controller manager":          {b.Manager, cluster, server, []string{"127.0.0.1", "localhost"}},
		"etcd, for its client":        {b.EtcdServer, etcd, server, []string{"127.0.0.1", "localhost"}},
		"etcd, for its peers":         {b.EtcdServer, etcd, client, nil},
		"API server, for etcd":        {b.EtcdClient, etcd, client, nil},
		"API server, for extensions":  {b.FrontProxy, frontProxy, client, nil},
		"administrator":               {b.Client("admin"), cluster, client, nil},
		"controller manager's client": {b.Client("kube-controller-manager"), cluster, client, nil},
		"kwok":                        {b.Client("kwok"), cluster, client, nil},
		"koord-scheduler":             {b.Client("koord-scheduler"), cluster, client, nil},
		"koord-manager":               {b.Client("koord-manager"), cluster, client, nil},
		"koordlet":                    {b.Client("koordlet"), cluster, client, nil},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			cert := readCert(t, tc.pair.CertFile)
			for _, authority := range []string{cluster, etcd, frontProxy} {
				roots := x509.NewCertPool()
				roots.AddCert(readCert(t, authority))
				_, err := cert.Verify(x509.VerifyOptions{
					Roots: roots, KeyUsages: []x509.ExtKeyUsage{tc.usage}, CurrentTime: started.Add(300 * day),
				})
				if (err == nil) != (authority == tc.authority) {
					t.Errorf("Verify() against %s = %v; want only %s to have signed it", authority, err, tc.authority)
				}
			}
			for _, host := range tc.hosts {
				if err := cert.VerifyHostname(host); err != nil {
					t.Error(err)
				}
			}
			if err := cert.VerifyHostname("example.com"); err == nil {
				t.Error("the certificate is good for a foreign host")
			}
		})
	}
}

func TestUsersAndGroups(t *testing.T) {
	b := ensure(t, newDir(t), started)
	type identity struct {
		User   string
		Groups []string
	}
	serviceAccounts := []string{"system:serviceaccounts", "system:serviceaccounts:koordinator-system"}
	want := map[string]identity{
		"admin":                   {"koord-sandbox-admin", []string{"system:masters"}},
		"kube-controller-manager": {"system:kube-controller-manager", nil},
		"kube-scheduler":          {"system:kube-scheduler", nil},
		"kwok":                    {"koord-sandbox-kwok", nil},
		"koord-scheduler":         {"system:serviceaccount:koordinator-system:koord-scheduler", serviceAccounts},
		"koord-manager":           {"system:serviceaccount:koordinator-system:koord-manager", serviceAccounts},
		"koord-descheduler":       {"system:serviceaccount:koordinator-system:koord-descheduler", serviceAccounts},
		"koordlet":                {"system:serviceaccount:koordinator-system:koordlet", append([]string{"koord-sandbox:simulated-koordlets"}, serviceAccounts...)},
		"the front proxy":         {"front-proxy-client", nil},
	}
	got := map[string]identity{}
	pairs := map[string]Pair{"the front proxy": b.FrontProxy}
	for name, pair := range b.clients {
		pairs[name] = pair
	}
	for name, pair := range pairs {
		subject := readCert(t, pair.CertFile).Subject
		got[name] = identity{subject.CommonName, sorted(subject.Organization)}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("users (-want +got):\n%s", diff)
	}
}

func TestWhatIsGoodIsKept(t *testing.T) {
	dir := newDir(t)
	ensure(t, dir, started)
	before := contents(t, dir.PKI())
	ensure(t, dir, started.Add(300*day))
	if diff := cmp.Diff(before, contents(t, dir.PKI())); diff != "" {
		t.Errorf("files changed at the second start (-before +after):\n%s", diff)
	}
}

func TestWhatNearsItsEndIsRenewed(t *testing.T) {
	tests := map[string]struct {
		at              time.Duration
		wantLeaves      bool
		wantAuthorities bool
	}{
		"31 days before a leaf's end":              {at: leafLife - 31*day},
		"29 days before a leaf's end":              {at: leafLife - 29*day, wantLeaves: true},
		"after a leaf's end":                       {at: leafLife + day, wantLeaves: true},
		"less than a leaf before an authority's":   {at: authorityLife - leafLife + day, wantLeaves: true, wantAuthorities: true},
		"years after everything":                   {at: 2 * authorityLife, wantLeaves: true, wantAuthorities: true},
		"just more than a leaf before authority's": {at: authorityLife - leafLife - day, wantLeaves: true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			dir := newDir(t)
			ensure(t, dir, started)
			before := contents(t, dir.PKI())
			now := started.Add(tc.at)
			b := ensure(t, dir, now)
			after := contents(t, dir.PKI())
			for file, content := range after {
				want := tc.wantLeaves
				if strings.Contains(file, "ca.") {
					want = tc.wantAuthorities
				}
				if strings.Contains(file, "service-account") {
					want = false // tokens handed out stay good
				}
				if renewed := before[file] != content; renewed != want {
					t.Errorf("%s renewed = %t; want %t", file, renewed, want)
				}
			}
			roots := x509.NewCertPool()
			roots.AddCert(readCert(t, b.CAFile))
			_, err := readCert(t, b.Client("admin").CertFile).Verify(x509.VerifyOptions{
				Roots: roots, CurrentTime: now, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
			})
			if err != nil {
				t.Errorf("Verify() = %v", err)
			}
		})
	}
}

// TestCertificatesFollowTheirIdentity starts a sandbox with a program that gives a server another name than before.
func TestCertificatesFollowTheirIdentity(t *testing.T) {
	dir := newDir(t)
	ca, err := OpenAuthority(dir.PKI(), "ca", func() time.Time { return started })
	if err != nil {
		t.Fatal(err)
	}
	identities := []Identity{
		{File: "web", User: "web", Hosts: []string{"localhost", "127.0.0.1"}},
		{File: "web", User: "web", Hosts: []string{"localhost", "127.0.0.1", "web.local"}},
		{File: "web", User: "web", Hosts: []string{"localhost", "127.0.0.2"}},
		{File: "web", User: "web", Groups: []string{"servers"}, Hosts: []string{"localhost", "127.0.0.2"}},
		{File: "web", User: "www", Groups: []string{"servers"}, Hosts: []string{"localhost", "127.0.0.2"}},
	}
	var last []byte
	for i, id := range identities {
		pair, err := ca.Issue(id)
		if err != nil {
			t.Fatal(err)
		}
		cert := readCert(t, pair.CertFile)
		if cmp.Equal(cert.Raw, last) {
			t.Errorf("identity %d has the certificate of the one before", i)
		}
		last = cert.Raw
		for _, host := range id.Hosts {
			if err := cert.VerifyHostname(host); err != nil {
				t.Error(err)
			}
		}
	}
}

func TestDamagedFiles(t *testing.T) {
	tests := map[string]struct {
		damage func(t *testing.T, pki string)
		want   string // empty when Ensure is to repair it
	}{
		"an authority's certificate is no PEM": {
			damage: write("ca.crt", "nonsense"),
			want:   `read certificate authority "ca": parse ca.crt: no PEM block found`,
		},
		"an authority's certificate is cut": {
			damage: write("etcd-ca.crt", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"),
			want:   `read certificate authority "etcd-ca": parse etcd-ca.crt: `,
		},
		"an authority's key is empty": {
			damage: write("front-proxy-ca.key", ""),
			want:   `read certificate authority "front-proxy-ca": parse front-proxy-ca.key: no PEM block found`,
		},
		"an authority's key is another's": {
			damage: func(t *testing.T, pki string) {
				other, err := os.ReadFile(filepath.Join(pki, "etcd-ca.key"))
				if err != nil {
					t.Fatal(err)
				}
				write("ca.key", string(other))(t, pki)
			},
			want: `read certificate authority "ca": use ca.key: it does not match the certificate ca.crt`,
		},
		"the service account key is nonsense": {
			damage: write("service-account.key", "nonsense"),
			want:   "read the service account key: parse service-account.key: no PEM block found",
		},
		"the service account key is no key": {
			damage: write("service-account.key", "-----BEGIN EC PRIVATE KEY-----\nAAAA\n-----END EC PRIVATE KEY-----\n"),
			want:   "read the service account key: ",
		},
		"a server's certificate is nonsense": {damage: write("apiserver.crt", "nonsense")},
		"a user's key is empty":              {damage: write("admin.key", "")},
		"an authority's key is lost":         {damage: remove("ca.key")},
		"everything is lost but one key":     {damage: remove("ca.key", "ca.crt", "etcd-ca.crt", "etcd-ca.key", "front-proxy-ca.crt")},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			dir := newDir(t)
			ensure(t, dir, started)
			tc.damage(t, dir.PKI())
			b, err := Ensure(dir, func() time.Time { return started })
			if tc.want != "" {
				if err == nil || !strings.Contains(err.Error(), tc.want) {
					t.Errorf("Ensure() = %v; want %q", err, tc.want)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			roots := x509.NewCertPool()
			roots.AddCert(readCert(t, b.CAFile))
			for _, pair := range []Pair{b.APIServer, b.Client("admin")} {
				if _, _, err := readPair(pair.CertFile, pair.KeyFile); err != nil {
					t.Error(err)
				}
				if _, err := readCert(t, pair.CertFile).Verify(x509.VerifyOptions{Roots: roots, CurrentTime: started, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageAny}}); err != nil {
					t.Errorf("Verify() of %s = %v", pair.CertFile, err)
				}
			}
		})
	}
}

func TestFilesAreForTheUserAlone(t *testing.T) {
	dir := newDir(t)
	if err := ensure(t, dir, started).WriteKubeconfigs(dir, "demo", 6443); err != nil {
		t.Fatal(err)
	}
	checked := 0
	err := filepath.WalkDir(dir.Path(), func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		if checked++; info.Mode().Perm() != 0o600 {
			t.Errorf("mode of %s = %o; want 600", path, info.Mode().Perm())
		}
		return nil
	})
	if err != nil || checked < 30 {
		t.Errorf("%d files checked, %v; want all of them", checked, err)
	}
}

func newDir(t *testing.T) state.Dir {
	t.Helper()
	dir := state.Open(t.TempDir(), "demo")
	if err := dir.Create(); err != nil {
		t.Fatal(err)
	}
	return dir
}

func ensure(t *testing.T, dir state.Dir, now time.Time) *Bundle {
	t.Helper()
	b, err := Ensure(dir, func() time.Time { return now })
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func readCert(t *testing.T, path string) *x509.Certificate {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	block, rest := pem.Decode(data)
	if block == nil || len(rest) != 0 {
		t.Fatalf("%s holds no certificate, or more than one", path)
	}
	cert, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	return cert
}

func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for _, entry := range entries {
		data, err := os.ReadFile(filepath.Join(dir, entry.Name()))
		if err != nil {
			t.Fatal(err)
		}
		files[entry.Name()] = string(data)
	}
	return files
}

func write(file, content string) func(*testing.T, string) {
	return func(t *testing.T, dir string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, file), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func remove(files ...string) func(*testing.T, string) {
	return func(t *testing.T, dir string) {
		t.Helper()
		for _, file := range files {
			if err := os.Remove(filepath.Join(dir, file)); err != nil {
				t.Fatal(err)
			}
		}
	}
}
