package minioadmin

import (
	"encoding/json"
	"strings"
)

// statement is a statement of an S3 policy.
type statement struct {
	Effect    string
	Action    []string
	Resource  []string
	Condition map[string]map[string][]string `json:",omitempty"`
}

// PrefixPolicy returns a policy that allows to read, write, list and delete below a prefix of a
// bucket, and nothing else.
func PrefixPolicy(bucket, prefix string) ([]byte, error) {
	prefix = strings.Trim(prefix, "/")
	const arn = "arn:aws:s3:::"
	return json.Marshal(map[string]any{
		"Version": "2012-10-17",
		"Statement": []statement{
			{
				Effect:   "Allow",
				Action:   []string{"s3:GetObject", "s3:PutObject", "s3:DeleteObject", "s3:AbortMultipartUpload", "s3:ListMultipartUploadParts"},
				Resource: []string{arn + bucket + "/" + prefix + "/*"},
			},
			{
				Effect:    "Allow",
				Action:    []string{"s3:ListBucket"},
				Resource:  []string{arn + bucket},
				Condition: map[string]map[string][]string{"StringLike": {"s3:prefix": {prefix + "/*"}}},
			},
			{Effect: "Allow", Action: []string{"s3:GetBucketLocation"}, Resource: []string{arn + bucket}},
		},
	})
}
