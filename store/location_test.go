package store

import "testing"

func TestSplit(t *testing.T) {
	for url, want := range map[string][2]string{
		"s3://b/p/f":        {"s3://b/p", "f"},
		"s3://b/f":          {"s3://b", "f"},
		"s3://b/p/q/":       {"s3://b/p", "q"},
		"s3://b":            {"s3://b", ""},
		"s3:///f":           {"s3://", "f"}, // to open it says that there is no bucket
		"dir/f":             {"dir", "f"},
		"f":                 {".", "f"},
		"/f":                {"/", "f"},
		"/a/b/f":            {"/a/b", "f"},
		"file:///a/f":       {"/a", "f"},
		"../f":              {"..", "f"},
		"..":                {"..", ""},
		"./f":               {".", "f"},
		"dir/sub/../f.json": {"dir", "f.json"},
	} {
		if s, key := Split(url); s != want[0] || key != want[1] {
			t.Errorf("Split(%q) = %q, %q, want %q, %q", url, s, key, want[0], want[1])
		}
	}
}

func TestOpenRejects(t *testing.T) {
	for _, url := range []string{"", "s3://", "s3:///x", "s3://b/a/../c", "s3://b/a//c", "gs://b/x", "http://h/x", "file://host/x"} {
		if _, err := Open(url, S3Options{}); err == nil {
			t.Errorf("%q: no error", url)
		}
	}
	for _, endpoint := range []string{"minio:9000", "ftp://h", "http://", "http://u:p@h", "http://h/path", "http://h?q"} {
		if _, err := Open("s3://b", S3Options{Endpoint: endpoint}); err == nil {
			t.Errorf("endpoint %q: no error", endpoint)
		}
	}
	if _, err := Open("s3://b", S3Options{Endpoint: "https://h", CAFile: "/no/such/file"}); err == nil {
		t.Error("missing CA file: no error")
	}
}

func TestJoin(t *testing.T) {
	for _, c := range [][3]string{{"s3://b", "k", "s3://b/k"}, {"s3://b/p/", "k/l", "s3://b/p/k/l"}, {"dir", "k", "dir/k"}, {"dir", "", "dir"}} {
		if got := Join(c[0], c[1]); got != c[2] {
			t.Errorf("Join(%q, %q) = %q", c[0], c[1], got)
		}
	}
}

func TestOptionsFromEnv(t *testing.T) {
	env := map[string]string{EnvEndpoint: "http://m:9000", EnvRegion: "r", EnvPathStyle: "false", EnvCAFile: "ca", EnvCredentialsDir: "/c", "AWS_REGION": "other"}
	o, err := OptionsFromEnv(func(name string) string { return env[name] })
	want := S3Options{Endpoint: "http://m:9000", Region: "r", Addressing: AddressingVirtual, CAFile: "ca", CredentialsDir: "/c"}
	if err != nil || o != want {
		t.Errorf("%+v, %v", o, err)
	}
	env = map[string]string{"AWS_ENDPOINT_URL": "http://aws", "AWS_DEFAULT_REGION": "d"}
	if o, err = OptionsFromEnv(func(name string) string { return env[name] }); err != nil || o.Endpoint != "http://aws" || o.Region != "d" {
		t.Errorf("%+v, %v", o, err)
	}
	env = map[string]string{EnvPathStyle: "perhaps"}
	if _, err = OptionsFromEnv(func(name string) string { return env[name] }); err == nil {
		t.Error("no error")
	}
}
