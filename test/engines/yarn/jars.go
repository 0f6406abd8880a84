package yarn

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	_ "embed" // what is downloaded, and how it is verified
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

//go:embed pom.xml
var pom []byte

//go:embed checksums.txt
var checksums []byte

//go:embed java/Job.java
var job []byte

// Jars returns a directory with Hadoop and what it needs, and the classes of Job. It is downloaded once, by Maven, and verified each time.
func Jars(ctx context.Context) (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("find the cache: %w", err)
	}
	sum := sha256.Sum256(append(append(bytes.Clone(pom), checksums...), job...))
	directory := filepath.Join(cache, "koord", "engines", "yarn-"+hex.EncodeToString(sum[:6]))
	if err := verify(directory); err == nil {
		return directory, nil
	}
	if err := os.MkdirAll(filepath.Dir(directory), 0o755); err != nil {
		return "", err
	}
	fresh, err := os.MkdirTemp(filepath.Dir(directory), "download-")
	if err != nil {
		return "", err
	}
	defer func() { _ = os.RemoveAll(fresh) }() // it was renamed, or is of no use
	if err := download(ctx, fresh); err != nil {
		return "", err
	}
	if err := os.RemoveAll(directory); err != nil {
		return "", err
	}
	return directory, os.Rename(fresh, directory)
}

func download(ctx context.Context, into string) error {
	for name, content := range map[string][]byte{"pom.xml": pom, "Job.java": job} {
		if err := os.WriteFile(filepath.Join(into, name), content, 0o600); err != nil {
			return err
		}
	}
	if err := run(ctx, into, "mvn", "-B", "-q", "dependency:copy-dependencies", "-DoutputDirectory="+into); err != nil {
		return fmt.Errorf("download Hadoop: %w", err)
	}
	if err := run(ctx, into, "javac", "-nowarn", "-cp", "*", "-d", ".", "Job.java"); err != nil {
		return fmt.Errorf("compile Job.java: %w", err)
	}
	return verify(into)
}

func run(ctx context.Context, directory, program string, args ...string) error {
	command := exec.CommandContext(ctx, program, args...)
	command.Dir = directory
	output, err := command.CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s: %w\n%s", program, err, bytes.TrimSpace(output))
	}
	return nil
}

// verify compares each jar with its checksum.
func verify(directory string) error {
	if _, err := os.Stat(filepath.Join(directory, "Job.class")); err != nil {
		return err
	}
	var errs []error
	lines := bufio.NewScanner(bytes.NewReader(checksums))
	for lines.Scan() {
		want, name, _ := strings.Cut(lines.Text(), "  ")
		errs = append(errs, verifyOne(filepath.Join(directory, name), want))
	}
	return errors.Join(append(errs, lines.Err())...)
}

func verifyOne(path, want string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }() // it was only read
	sum := sha256.New()
	if _, err := io.Copy(sum, file); err != nil {
		return err
	}
	if got := hex.EncodeToString(sum.Sum(nil)); got != want {
		return fmt.Errorf("%s has checksum %s, want %s", filepath.Base(path), got, want)
	}
	return nil
}
