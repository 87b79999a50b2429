// SPDX-License-Identifier: Apache-2.0
// The tool interface: control and performance variables, categories, enumerations, events. It works before MPI_Init.
#include "family.h"

// The interface has what the library was built with: an index that does not exist gives an error, and that is a call too.
static int bound;
static MPI_Comm comm;

static void control_variables(void)
{
    int n, length, description_length, verbosity, binding, scope, index, count, found = -1;
    char name[256], description[1024];
    MPI_Datatype type;
    MPI_T_enum enumeration;
    MPI_T_cvar_handle handle;

    MPI_T_cvar_get_num(&n);
    for (int i = 0; i < n && i < 200; i++) {
        length = sizeof name;
        description_length = sizeof description;
        if (MPI_T_cvar_get_info(i, name, &length, &verbosity, &type, &enumeration, description, &description_length, &binding, &scope) != MPI_SUCCESS)
            continue;
        if (found < 0 && type == MPI_INT && binding == MPI_T_BIND_NO_OBJECT && scope != MPI_T_SCOPE_READONLY && scope != MPI_T_SCOPE_CONSTANT)
            found = i;
    }
    CHECK(n > 0);
    if (found < 0)
        found = 0;
    // Too short a buffer: MPI says how long the text is.
    char little[4];
    length = sizeof little;
    description_length = 0;
    MPI_T_cvar_get_info(found, little, &length, &verbosity, &type, &enumeration, NULL, &description_length, &binding, &scope);
    CHECK(strlen(little) == 3);
    length = sizeof name;
    description_length = sizeof description;
    MPI_T_cvar_get_info(found, name, &length, &verbosity, &type, &enumeration, description, &description_length, &binding, &scope);
    MPI_T_cvar_get_index(name, &index);
    CHECK(index == found);
    MPI_T_cvar_handle_alloc(found, NULL, &handle, &count);
    int *value = calloc(count > 0 ? count : 1, sizeof(long));
    MPI_T_cvar_read(handle, value);
    MPI_T_cvar_write(handle, value);
    MPI_T_cvar_handle_free(&handle);
    free(value);
}

static void enumerations(void)
{
    int n, length, description_length, verbosity, binding, scope;
    char name[256], description[1024];
    MPI_Datatype type;
    MPI_T_enum enumeration = MPI_T_ENUM_NULL;

    MPI_T_cvar_get_num(&n);
    for (int i = 0; i < n && enumeration == MPI_T_ENUM_NULL; i++) {
        length = sizeof name;
        description_length = sizeof description;
        MPI_T_cvar_get_info(i, name, &length, &verbosity, &type, &enumeration, description, &description_length, &binding, &scope);
    }
#ifdef OPEN_MPI
    CHECK(enumeration != MPI_T_ENUM_NULL);
#endif
    int items = 0, value;
    length = sizeof name;
    MPI_T_enum_get_info(enumeration, &items, name, &length); // MPICH 4.0 has none: an error
    length = sizeof name;
    MPI_T_enum_get_item(enumeration, 0, &value, name, &length);
}

static void performance_variables(void)
{
    // MPICH as Debian builds it has none: the calls fail.
    int n, length, description_length, verbosity, class, binding, readonly, continuous, atomic, index, count, found = -1;
    char name[256], description[1024];
    MPI_Datatype type;
    MPI_T_enum enumeration;
    MPI_T_pvar_session session;
    MPI_T_pvar_handle handle = MPI_T_PVAR_HANDLE_NULL;

    MPI_T_pvar_get_num(&n);
    for (int i = 0; i < n && found < 0; i++) {
        length = sizeof name;
        description_length = sizeof description;
        if (MPI_T_pvar_get_info(i, name, &length, &verbosity, &class, &type, &enumeration, description, &description_length, &binding, &readonly, &continuous, &atomic) != MPI_SUCCESS)
            continue;
        if (binding == MPI_T_BIND_NO_OBJECT || binding == MPI_T_BIND_MPI_COMM) {
            found = i;
            bound = binding == MPI_T_BIND_MPI_COMM;
            MPI_T_pvar_get_index(name, class, &index);
            CHECK(index == found);
        }
    }
    if (found < 0)
        MPI_T_pvar_get_index("no such variable", MPI_T_PVAR_CLASS_STATE, &index);
    MPI_T_pvar_session_create(&session);
    if (found >= 0) // MPICH crashes for one that does not exist
        MPI_T_pvar_handle_alloc(session, found, bound ? &comm : NULL, &handle, &count);
    long value[64] = {0};
    MPI_T_pvar_start(session, handle);
    MPI_T_pvar_read(session, handle, value);
    MPI_T_pvar_write(session, handle, value);
    MPI_T_pvar_reset(session, handle);
    MPI_T_pvar_readreset(session, handle, value);
    MPI_T_pvar_stop(session, handle);
    MPI_T_pvar_handle_free(session, &handle);
    MPI_T_pvar_start(session, MPI_T_PVAR_ALL_HANDLES);
    MPI_T_pvar_stop(session, MPI_T_PVAR_ALL_HANDLES);
    MPI_T_pvar_session_free(&session);
}

static void categories(void)
{
    int n, length, description_length, cvars, pvars, inner, index, stamp, list[256];
    char name[256], description[1024];

    MPI_T_category_changed(&stamp);
    MPI_T_category_get_num(&n);
    CHECK(n > 0);
    length = sizeof name;
    description_length = sizeof description;
    MPI_T_category_get_info(0, name, &length, description, &description_length, &cvars, &pvars, &inner);
    MPI_T_category_get_index(name, &index);
    CHECK(index == 0);
    MPI_T_category_get_cvars(0, cvars < 256 ? cvars : 256, list);
    MPI_T_category_get_pvars(0, pvars < 256 ? pvars : 256, list);
    MPI_T_category_get_categories(0, inner < 256 ? inner : 256, list);
#if MPI_VERSION >= 4
    int events;
    MPI_T_category_get_num_events(0, &events);
    MPI_T_category_get_events(0, 0, list);
#endif
}

#if MPI_VERSION >= 4
static void on_event(MPI_T_event_instance event, MPI_T_event_registration registration, MPI_T_cb_safety safety, void *data)
{
    char bytes[256];
    MPI_Count stamp;
    int source;
    MPI_T_event_read(event, 0, bytes);
    MPI_T_event_copy(event, bytes);
    MPI_T_event_get_timestamp(event, &stamp);
    MPI_T_event_get_source(event, &source);
    (void)registration;
    (void)safety;
    (void)data;
}

static void on_dropped(MPI_Count count, MPI_T_event_registration registration, int source, MPI_T_cb_safety safety, void *data)
{
    (void)count;
    (void)registration;
    (void)source;
    (void)safety;
    (void)data;
}

static void on_freed(MPI_T_event_registration registration, MPI_T_cb_safety safety, void *data)
{
    (void)registration;
    (void)safety;
    (void)data;
}

// MPICH 4.0 has no events: the calls fail, and crash where they are given none.
static void events(void)
{
    int n, length, description_length, verbosity, elements, binding, index;
    char name[256], description[1024];
    MPI_Datatype types[8];
    MPI_Aint displacements[8];
    MPI_T_enum enumeration;
    MPI_Info info = MPI_INFO_NULL;
    MPI_T_event_registration registration = NULL;
    MPI_Count stamp, ticks, most;
    MPI_T_source_order ordering;

    MPI_T_source_get_num(&n);
    length = description_length = sizeof name;
    MPI_T_source_get_info(n, name, &length, description, &description_length, &ordering, &ticks, &most, &info);
    MPI_T_source_get_timestamp(n, &stamp);
    MPI_T_event_get_num(&n);
    length = description_length = sizeof name;
    elements = 8;
    MPI_T_event_get_info(n, name, &length, &verbosity, types, displacements, &elements, &enumeration, &info, description, &description_length, &binding);
    MPI_T_event_get_index("no such event", &index);
    MPI_T_event_handle_alloc(n, NULL, MPI_INFO_NULL, &registration);
    MPI_T_event_handle_set_info(registration, MPI_INFO_NULL);
    MPI_T_event_callback_set_info(registration, MPI_T_CB_REQUIRE_NONE, MPI_INFO_NULL);
    if (registration == NULL)
        return;
    MPI_T_event_handle_get_info(registration, &info);
    MPI_T_event_register_callback(registration, MPI_T_CB_REQUIRE_NONE, MPI_INFO_NULL, NULL, on_event);
    MPI_T_event_callback_get_info(registration, MPI_T_CB_REQUIRE_NONE, &info);
    MPI_T_event_set_dropped_handler(registration, on_dropped);
    MPI_T_event_handle_free(registration, NULL, on_freed);
}
#endif

int main(void)
{
    int provided;

    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    MPI_T_cvar_get_num(&provided);
    begin();
    comm = MPI_COMM_WORLD;
    control_variables();
    enumerations();
    performance_variables();
    categories();
#if MPI_VERSION >= 4
    events();
#endif
    MPI_T_finalize();
    return end();
}
