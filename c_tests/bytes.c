/* States as bytes. With three arguments, `MODEL write FILE`: runs, writes the state and then what follows it, the run's end, to
 * FILE. `MODEL read FILE`: in a process that has never run the model, goes on from the state and must get the same bits. */
#include "check.h"

#include <math.h>

#define MORE 40

static biela_instance *crank = NULL;
static uint32_t tau = 0;

static void advance(int k)
{
    const double torque = 0.5 * sin(0.3 * k);
    double time = 0.0;
    MUST(crank, biela_time(crank, &time));
    MUST(crank, biela_set_real(crank, &tau, 1, &torque));
    MUST(crank, biela_step(crank, time, 0.013, NULL));
}

static void fail(const char *what)
{
    perror(what);
    exit(2);
}

static void write_all(FILE *file, const void *bytes, size_t size)
{
    if (fwrite(bytes, 1, size, file) != size) {
        fail("write");
    }
}

static void read_all(FILE *file, void *bytes, size_t size)
{
    if (fread(bytes, 1, size, file) != size) {
        fail("read");
    }
}

static void to_file(const char *name)
{
    FILE *file = fopen(name, "wb");
    if (!file) {
        fail(name);
    }
    biela_state *state = NULL;
    size_t size = 0;
    MUST(crank, biela_initialize(crank, 0.0, INFINITY, 0.0));
    for (int k = 0; k < 30; k++) {
        advance(k);
    }
    MUST(crank, biela_state_save(crank, &state));
    MUST(crank, biela_state_serialized_size(crank, state, &size));
    uint8_t *const bytes = malloc(size);
    if (!bytes) {
        fail("memory");
    }
    MUST(crank, biela_state_serialize(crank, state, bytes, size));
    write_all(file, &size, sizeof size);
    write_all(file, bytes, size);
    for (int k = 30; k < 30 + MORE; k++) {
        advance(k);
    }
    const snapshot end = look(crank);
    write_all(file, &end, sizeof end);
    fclose(file);

    /* Cut, damaged, foreign, or too little room: refused, and nothing is made. */
    biela_state *none = NULL;
    const snapshot before = look(crank);
    const biela_status bad = BIELA_STATUS_ERROR_STATE, wrong = BIELA_STATUS_ERROR_ARGUMENT;
    REFUSED(crank, biela_state_serialize(crank, state, bytes, size - 1), wrong, "size");
    REFUSED(crank, biela_state_serialize(crank, state, NULL, size), wrong, "bytes = NULL");
    REFUSED(crank, biela_state_serialize(crank, NULL, bytes, size), wrong, "state = NULL");
    REFUSED(crank, biela_state_serialized_size(crank, state, NULL), wrong, "size = NULL");
    REFUSED(crank, biela_state_deserialize(crank, bytes, size - 1, &none), bad, "truncated or damaged");
    REFUSED(crank, biela_state_deserialize(crank, bytes, 3, &none), bad, "not the bytes");
    REFUSED(crank, biela_state_deserialize(crank, bytes, 0, &none), bad, "not the bytes");
    REFUSED(crank, biela_state_deserialize(crank, NULL, size, &none), wrong, "bytes = NULL");
    REFUSED(crank, biela_state_deserialize(crank, bytes, size, NULL), wrong, "state = NULL");
    bytes[size / 2] ^= 4;
    REFUSED(crank, biela_state_deserialize(crank, bytes, size, &none), bad, "checksum");
    biela_state *const kept = state;
    REFUSED(crank, biela_state_deserialize(crank, bytes, size, &state), bad, "checksum");
    EXPECT(none == NULL && state == kept);
    bytes[size / 2] ^= 4;
    biela_instance *other = NULL;
    static const char OTHER[] = "format = 1\nname = \"other\"\ndimension = 2\n[[body]]\nname = \"b\"\nmass = 1\ninertia = 1\n";
    MUST(NULL, biela_instance_new_from_string(OTHER, strlen(OTHER), NULL, &other));
    REFUSED(other, biela_state_deserialize(other, bytes, size, &none), bad, "another model");
    EXPECT(none == NULL);
    MUST(NULL, biela_instance_free(other));
    const snapshot after = look(crank);
    EXPECT(same(&before, &after));
    MUST(NULL, biela_state_free(state));
    free(bytes);
}

static void from_file(const char *name)
{
    FILE *file = fopen(name, "rb");
    if (!file) {
        fail(name);
    }
    size_t size = 0;
    read_all(file, &size, sizeof size);
    uint8_t *const bytes = malloc(size);
    if (!bytes) {
        fail("memory");
    }
    snapshot end;
    read_all(file, bytes, size);
    read_all(file, &end, sizeof end);
    fclose(file);

    biela_state *state = NULL;
    MUST(crank, biela_state_deserialize(crank, bytes, size, &state));
    MUST(crank, biela_state_restore(crank, state));
    for (int k = 30; k < 30 + MORE; k++) {
        advance(k);
    }
    const snapshot now = look(crank);
    EXPECT(same(&now, &end));
    /* Into a state that is there already. */
    biela_state *const first = state;
    MUST(crank, biela_state_deserialize(crank, bytes, size, &state));
    EXPECT(state == first);
    MUST(NULL, biela_state_free(state));
    free(bytes);
}

int main(int argc, char **argv)
{
    if (argc != 4) {
        fprintf(stderr, "usage: %s MODEL write|read FILE\n", argv[0]);
        return 2;
    }
    MUST(NULL, biela_instance_new_from_file(argv[1], &crank));
    MUST(crank, biela_variable_find(crank, "tau", &tau));
    if (strcmp(argv[2], "write") == 0) {
        to_file(argv[3]);
    } else {
        from_file(argv[3]);
    }
    MUST(NULL, biela_instance_free(crank));
    return finish();
}
